# Checks one case: with -DMISUSE it does not compile, and the compiler prints every text that an `// expect: ` line names,
# the first within five lines, so that nobody has to search for it. A line `// lines: <number>: <why>` allows it more.
# A line `// flags: <flags>` adds to the flags with which the case must fail.
# A case that starts with a header in the folder `precompiled` takes it from there, unless it has flags of its own.
# Variables: compiler, include, precompiled, source.
# SPDX-License-Identifier: Apache-2.0
file(STRINGS "${source}" expectations REGEX "^// expect: .")
if(NOT expectations)
  message(FATAL_ERROR "${source}: the first line must be `// expect: <text>`")
endif()
set(most_lines 5)
file(STRINGS "${source}" allowance REGEX "^// lines: [0-9]+: .")
if(allowance)
  string(REGEX REPLACE "^// lines: ([0-9]+): .*" "\\1" most_lines "${allowance}")
endif()

file(STRINGS "${source}" flags REGEX "^// flags: .")
string(REGEX REPLACE "^// flags: " "" flags "${flags}")
separate_arguments(flags UNIX_COMMAND "${flags}")

set(reused "")
file(STRINGS "${source}" first REGEX "^ *#(include|define|if)" LIMIT_COUNT 1)
string(REGEX REPLACE "^#include <(.*)>$" "\\1.gch" first "${first}")
if(NOT flags AND EXISTS "${precompiled}/${first}")
  if(compiler MATCHES "clang")
    set(reused -include-pch "${precompiled}/${first}")
  else()  # g++ looks beside each header that it may include
    set(reused "-I${precompiled}")
  endif()
endif()

# Compiles with these further flags. Sets `output`, and whether it holds every text: `is_complete`.
macro(compile_misuse)
  execute_process(COMMAND "${compiler}" -std=c++20 ${flags} ${ARGN} -fsyntax-only ${reused} "-I${include}" -DMISUSE
    "${source}" RESULT_VARIABLE failed ERROR_VARIABLE output)
  if(NOT failed)
    message(FATAL_ERROR "${source}: must not compile with MISUSE")
  endif()
  set(is_complete ON)
  foreach(expectation IN LISTS expectations)
    string(REGEX REPLACE "^// expect: " "" text "${expectation}")
    string(FIND "${output}" "${text}" position)
    if(position EQUAL -1)
      set(is_complete OFF)
    endif()
  endforeach()
endmacro()

# Most texts are those of the first error, behind which clang++ can end: in half of the time.
set(is_complete OFF)
if(compiler MATCHES "clang")
  compile_misuse(-Wfatal-errors)
endif()
if(NOT is_complete)
  compile_misuse()
endif()
foreach(expectation IN LISTS expectations)
  string(REGEX REPLACE "^// expect: " "" text "${expectation}")
  string(FIND "${output}" "${text}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "${source}: the compiler does not print `${text}`:\n${output}")
  endif()
  if(DEFINED most_lines)
    string(SUBSTRING "${output}" 0 ${position} before)
    string(REGEX MATCHALL "\n" line_ends "${before}")
    list(LENGTH line_ends lines_before)
    if(NOT lines_before LESS most_lines)
      math(EXPR line "${lines_before} + 1")
      message(FATAL_ERROR "${source}: `${text}` is on line ${line}, expected within ${most_lines}:\n${output}")
    endif()
    unset(most_lines)
  endif()
endforeach()
