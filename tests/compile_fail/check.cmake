# Checks one case: compiles as it stands; with -DMISUSE fails, and prints every text that an `// expect: ` line names.
# Variables: compiler, include, source.
# SPDX-License-Identifier: Apache-2.0
file(STRINGS "${source}" expectations REGEX "^// expect: .")
if(NOT expectations)
  message(FATAL_ERROR "${source}: the first line must be `// expect: <text>`")
endif()

set(command "${compiler}" -std=c++20 -fsyntax-only "-I${include}" "${source}")
execute_process(COMMAND ${command} RESULT_VARIABLE failed ERROR_VARIABLE output)
if(failed)
  message(FATAL_ERROR "${source}: must compile without MISUSE:\n${output}")
endif()

execute_process(COMMAND ${command} -DMISUSE RESULT_VARIABLE failed ERROR_VARIABLE output)
if(NOT failed)
  message(FATAL_ERROR "${source}: must not compile with MISUSE")
endif()
foreach(expectation IN LISTS expectations)
  string(REGEX REPLACE "^// expect: " "" text "${expectation}")
  string(FIND "${output}" "${text}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "${source}: the compiler does not print `${text}`:\n${output}")
  endif()
endforeach()
