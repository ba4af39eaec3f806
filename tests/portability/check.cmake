# Builds forward.cpp twice, runs both programs, and compares their numbers.
# Variables: own and other (the commands of two compilers), emulator (what runs the other's program; may be empty),
# include, scratch.
# SPDX-License-Identifier: Apache-2.0
set(warnings -Wall -Wextra -Wconversion -Wshadow -Werror)
file(REMOVE_RECURSE "${scratch}")
file(MAKE_DIRECTORY "${scratch}")
foreach(program IN ITEMS own other)
  separate_arguments(compiler UNIX_COMMAND "${${program}}")
  if(compiler MATCHES "clang")
    list(APPEND compiler -Wno-unknown-warning-option -Wno-invalid-feature-combination)
  endif()
  execute_process(COMMAND ${compiler} -std=c++20 -O0 -pthread ${warnings} -I "${include}"
    "${CMAKE_CURRENT_LIST_DIR}/forward.cpp" -o "${scratch}/${program}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND "${scratch}/own" --write "${scratch}/numbers.txt" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${emulator} "${scratch}/other" --compare "${scratch}/numbers.txt" COMMAND_ERROR_IS_FATAL ANY)
