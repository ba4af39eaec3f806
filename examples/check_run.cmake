# Runs a program and checks its exit code and what it prints.
# Variables: program, arguments (a list), code, text (a regular expression).
# SPDX-License-Identifier: Apache-2.0
execute_process(COMMAND "${program}" ${arguments} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT result EQUAL code)
  message(FATAL_ERROR "${program} ${arguments}: exit code ${result}, expected ${code}\n${output}${errors}")
endif()
if(NOT "${output}${errors}" MATCHES "${text}")
  message(FATAL_ERROR "${program} ${arguments}: does not print `${text}`\n${output}${errors}")
endif()
