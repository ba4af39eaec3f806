# Runs gpu_suite.cmake on a project of its own: the last line, the exit code, and the file of results.
# cmake -D SUITE=<gpu_suite.cmake> -D PROJECT=<folder> -D WORK=<scratch folder> -P check.cmake
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)

function(check fails expected_line expected_code)
  file(REMOVE_RECURSE "${WORK}")
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${PROJECT}" -B "${WORK}/build" -D FAILS=${fails} OUTPUT_QUIET
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${CMAKE_COMMAND}" -D "BUILD=${WORK}/build" -D "SOURCE=${WORK}" -D JOBS=1 -P "${SUITE}"
    OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE code)
  if(NOT output MATCHES "\n${expected_line}\n$")
    message(FATAL_ERROR "the output does not end with ${expected_line}:\n${output}")
  endif()
  if(NOT errors MATCHES "1 skipped")
    message(FATAL_ERROR "what is skipped is not told:\n${errors}")
  endif()
  if(NOT code EQUAL expected_code)
    message(FATAL_ERROR "exit code ${code}, expected ${expected_code}")
  endif()
  file(GLOB results "${WORK}/benchmarks/results/Some-GPU-1-*.json")
  file(READ "${results}" text)
  string(JSON rows LENGTH "${text}" benchmarks)
  string(JSON device GET "${text}" context device)
  if(NOT rows EQUAL 4 OR NOT device STREQUAL "Some (GPU) 1")
    message(FATAL_ERROR "${results}: ${rows} rows of ${device}, expected 4 of Some (GPU) 1")
  endif()
endfunction()

check(OFF "3 passed, 0 failed" 0)
check(ON "3 passed, 1 failed" 1)
