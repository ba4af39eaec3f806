# tenon::compiled: the engines of Tenon, compiled once for all the programs of a project, with the project's own flags.
# The sources are a line for each header that lists engines, so nothing of a machine is in the package.
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
  add_library(tenon::compiled ALIAS tenon_compiled)
  # Shared libraries may link it. Its functions call each other all the same, so that g++ inlines them as in programs.
  set_target_properties(tenon_compiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(tenon_compiled PRIVATE -fno-semantic-interposition)
  target_link_libraries(tenon_compiled PUBLIC tenon::tenon)
  target_compile_definitions(tenon_compiled INTERFACE TENON_COMPILED=1)
endfunction()
