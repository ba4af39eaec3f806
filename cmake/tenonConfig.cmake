# find_package(tenon): the target tenon::tenon.
# OpenMP, xsimd, libpng and zlib are looked for here, on the machine that uses the package; none is required.
# SPDX-License-Identifier: Apache-2.0
include("${CMAKE_CURRENT_LIST_DIR}/tenonTargets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/backends.cmake")
tenon_find_backends()
foreach(backend IN LISTS tenon_backends)
  if(TARGET ${backend})
    target_link_libraries(tenon::tenon INTERFACE ${backend})
  endif()
endforeach()
