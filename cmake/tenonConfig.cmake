# find_package(tenon): the target tenon::tenon; with COMPONENTS compiled, tenon::compiled as well.
# OpenMP, xsimd, libpng and zlib are looked for here, on the machine that uses the package; none is required.
# SPDX-License-Identifier: Apache-2.0
if(NOT TARGET tenon::tenon)  # of add_subdirectory, of FetchContent or of a search before, each complete
  include("${CMAKE_CURRENT_LIST_DIR}/tenonTargets.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/backends.cmake")
  tenon_find_backends()
  tenon_tell_backends()
  foreach(backend IN LISTS tenon_backends)
    if(TARGET ${backend})
      target_link_libraries(tenon::tenon INTERFACE ${backend})
    endif()
  endforeach()
endif()

foreach(component IN LISTS tenon_FIND_COMPONENTS)
  if(component STREQUAL "compiled")
    include("${CMAKE_CURRENT_LIST_DIR}/compiled.cmake")
    tenon_add_compiled()
    set(tenon_compiled_FOUND TRUE)
  elseif(tenon_FIND_REQUIRED_${component})
    set(tenon_FOUND FALSE)
    set(tenon_NOT_FOUND_MESSAGE "Tenon has no component ${component}; it has: compiled")
  endif()
endforeach()
