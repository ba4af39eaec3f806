# Trains on one, two and three threads: the weights must be the same, bit for bit.
# Variable: program, which takes the options of examples/mnist.
# SPDX-License-Identifier: Apache-2.0
foreach(threads IN ITEMS 1 2 3)
  set(weights "${CMAKE_CURRENT_BINARY_DIR}/weights_of_${threads}_threads")
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env "OMP_NUM_THREADS=${threads}" "${program}" --limit 640 --epochs 1
    --save "${weights}" RESULT_VARIABLE failed OUTPUT_QUIET)
  if(failed)
    message(FATAL_ERROR "${program} fails on ${threads} threads: ${failed}")
  endif()
  file(SHA256 "${weights}" hash)
  file(REMOVE "${weights}")
  if(threads EQUAL 1)
    set(expected "${hash}")
  elseif(NOT hash STREQUAL expected)
    message(FATAL_ERROR "${program}: ${threads} threads give other weights than one")
  endif()
endforeach()
