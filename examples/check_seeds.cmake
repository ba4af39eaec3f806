# Seeds that differ in their upper half alone are tested on other sequences, too.
# Variable: program, which takes the options of examples/transformer.
# SPDX-License-Identifier: Apache-2.0
foreach(seed IN ITEMS 0 1 4294967296 4294967297)
  execute_process(COMMAND "${program}" --steps 0 --seed ${seed} RESULT_VARIABLE failed OUTPUT_VARIABLE output)
  string(REGEX MATCHALL "[0-9 ]+->" sequences "${output}")
  list(LENGTH sequences count)
  if(failed OR NOT count EQUAL 3)
    message(FATAL_ERROR "${program} --seed ${seed}: ${failed}, ${count} sequences, expected 3")
  endif()
  string(REPLACE ";" " " sequences "${sequences}")
  list(FIND all "${sequences}" other)
  if(NOT other EQUAL -1)
    message(FATAL_ERROR "${program} --seed ${seed}: the sequences are those of another seed")
  endif()
  list(APPEND all "${sequences}")
endforeach()
