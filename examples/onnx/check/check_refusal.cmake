# Converts a model that is refused: exit code 1, a message, and no file written.
# Variables: program, model, text (a regular expression).
# SPDX-License-Identifier: Apache-2.0
cmake_path(GET model STEM name)
cmake_path(REPLACE_FILENAME model "${name}_refused" OUTPUT_VARIABLE folder)
file(REMOVE_RECURSE "${folder}")
file(MAKE_DIRECTORY "${folder}")
execute_process(COMMAND "${program}" "${model}" "${folder}" RESULT_VARIABLE result
  OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT result EQUAL 1)
  message(FATAL_ERROR "${program} ${model}: exit code ${result}, expected 1\n${output}${errors}")
endif()
if(NOT errors MATCHES "${text}")
  message(FATAL_ERROR "${program} ${model}: does not print `${text}`\n${errors}")
endif()
file(GLOB written "${folder}/*")
if(written)
  message(FATAL_ERROR "${program} ${model}: has written ${written}")
endif()
