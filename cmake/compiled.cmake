# tenon::compiled: the engines of Tenon, compiled once for all the programs of a project, with the project's own flags.
# The sources are a line for each header that lists engines, so nothing of a machine is in the package.
# Programs link an imported target, whose file is the library. So CMake exports libraries that link it, by its name alone.
# SPDX-License-Identifier: Apache-2.0
include_guard()

# Makes the target tenon::compiled, once in a project however often it is asked for. It is built when a program links it.
function(tenon_add_compiled)
  if(TARGET tenon_compiled)
    return()
  endif()
  set(sources)
  foreach(room IN ITEMS host contraction data nn train)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/tenon_compiled/${room}.cpp")
    file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
      "#define TENON_COMPILES 1\n#include <tenon/evaluate.hpp>\n#include <tenon/${room}/engines.hpp>\n")
    list(APPEND sources "${source}")
  endforeach()
  add_library(tenon_compiled STATIC EXCLUDE_FROM_ALL ${sources})
  # Shared libraries may link it. Its functions call each other all the same, so that g++ inlines them as in programs.
  set_target_properties(tenon_compiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(tenon_compiled PRIVATE -fno-semantic-interposition)
  target_link_libraries(tenon_compiled PUBLIC tenon::tenon)

  # The file has the same name in all configurations, and a folder for each.
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/tenon_compiled")
  set(file "${CMAKE_STATIC_LIBRARY_PREFIX}tenon_compiled${CMAKE_STATIC_LIBRARY_SUFFIX}")
  add_library(tenon::compiled STATIC IMPORTED GLOBAL)
  add_dependencies(tenon::compiled tenon_compiled)
  target_link_libraries(tenon::compiled INTERFACE tenon::tenon)
  target_compile_definitions(tenon::compiled INTERFACE TENON_COMPILED=1)
  set_target_properties(tenon_compiled PROPERTIES ARCHIVE_OUTPUT_DIRECTORY "${folder}")
  set_target_properties(tenon::compiled PROPERTIES IMPORTED_LOCATION "${folder}/${file}")
  foreach(config IN LISTS CMAKE_CONFIGURATION_TYPES CMAKE_BUILD_TYPE)
    string(TOUPPER "${config}" suffix)
    set_target_properties(tenon_compiled PROPERTIES
      ARCHIVE_OUTPUT_DIRECTORY_${suffix} "${folder}/${config}" ${suffix}_POSTFIX "")
    set_target_properties(tenon::compiled PROPERTIES
      IMPORTED_LOCATION_${suffix} "${folder}/${config}/${file}" MAP_IMPORTED_CONFIG_${suffix} "${config}")
  endforeach()
endfunction()
