# Builds standard_library.cpp with another standard library and runs it.
# Variables: compiler (a command), include, scratch.
# SPDX-License-Identifier: Apache-2.0
file(REMOVE_RECURSE "${scratch}")
file(MAKE_DIRECTORY "${scratch}")
separate_arguments(compiler)
execute_process(COMMAND ${compiler} -std=c++20 -O0 -pthread -Wall -Wextra -Wconversion -Wshadow -Werror -I "${include}"
  "${CMAKE_CURRENT_LIST_DIR}/standard_library.cpp" -o "${scratch}/program" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${scratch}/program" "${scratch}" COMMAND_ERROR_IS_FATAL ANY)
