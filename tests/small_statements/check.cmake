# Compiles the program of small statements with fixed flags, and runs it. Variables: compiler, include, source, program.
# SPDX-License-Identifier: Apache-2.0
execute_process(
  COMMAND "${compiler}" -std=c++20 -O2 -march=x86-64-v3 -Wno-psabi "-I${include}" "${source}" -o "${program}"
  RESULT_VARIABLE failed OUTPUT_VARIABLE report ERROR_VARIABLE report)
if(failed)
  message(FATAL_ERROR "${source}: does not compile:\n${report}")
endif()
execute_process(COMMAND "${program}" RESULT_VARIABLE status OUTPUT_VARIABLE report ERROR_VARIABLE report)
message("${report}")
if(NOT status EQUAL 0 AND NOT status EQUAL 77)
  message(FATAL_ERROR "small statements run more instructions than before: ${status}")
endif()
