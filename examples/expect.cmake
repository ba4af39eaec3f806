# expect_run(<exit code> <regular expression> <argument>...): runs ${program}, which must end with this code and print a
# match of this text.
# SPDX-License-Identifier: Apache-2.0
function(expect_run code text)
  execute_process(COMMAND "${program}" ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT result EQUAL code)
    message(FATAL_ERROR "${program} ${ARGN}: exit code ${result}, expected ${code}\n${output}${errors}")
  endif()
  if(NOT "${output}${errors}" MATCHES "${text}")
    message(FATAL_ERROR "${program} ${ARGN}: does not print `${text}`\n${output}${errors}")
  endif()
endfunction()

# Writes a file: what printf of a shell makes of `head`, and `count` bytes of value `byte` (octal).
function(write_binary path head count byte)
  find_program(shell sh REQUIRED)
  execute_process(COMMAND "${shell}" -c "{ printf \"$1\"; head -c \"$2\" /dev/zero | tr '\\000' \"\\\\$3\"; } >\"$4\"" sh
    "${head}" "${count}" "${byte}" "${path}" RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${path} cannot be written: ${failed}")
  endif()
endfunction()
