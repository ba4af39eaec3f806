# Builds forward.cpp and writes the numbers that this build makes of it, or compares with numbers that are there, or both.
# Variables: own (the command of a compiler whose program writes), other (of one whose program compares), emulator (what
# runs the other's program; may be empty), numbers (their file; in scratch where nothing is said), include, scratch.
# SPDX-License-Identifier: Apache-2.0
set(warnings -Wall -Wextra -Wconversion -Wshadow -Werror)
if(NOT DEFINED numbers)
  set(numbers "${scratch}/numbers.txt")
endif()
file(REMOVE_RECURSE "${scratch}")
file(MAKE_DIRECTORY "${scratch}")

function(build_program program)
  separate_arguments(compiler UNIX_COMMAND "${${program}}")
  if(compiler MATCHES "clang")
    list(APPEND compiler -Wno-unknown-warning-option -Wno-invalid-feature-combination)
  endif()
  execute_process(COMMAND ${compiler} -std=c++20 -O0 -pthread ${warnings} -I "${include}"
    "${CMAKE_CURRENT_LIST_DIR}/forward.cpp" -o "${scratch}/${program}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(DEFINED own)
  build_program(own)
  execute_process(COMMAND "${scratch}/own" --write "${numbers}" COMMAND_ERROR_IS_FATAL ANY)
endif()
if(DEFINED other)
  build_program(other)
  execute_process(COMMAND ${emulator} "${scratch}/other" --compare "${numbers}" COMMAND_ERROR_IS_FATAL ANY)
endif()
