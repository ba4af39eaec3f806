# Interrupts an endless training, twice, as Ctrl-C does: it must end by itself, with code 130 and a checkpoint, and go
# on. Variables: program, which takes the options of examples/mnist; folder, which this may overwrite.
# SPDX-License-Identifier: Apache-2.0
find_program(timeout timeout REQUIRED)
file(REMOVE_RECURSE "${folder}")
file(MAKE_DIRECTORY "${folder}")
foreach(steps_before IN ITEMS 0 1)
  execute_process(COMMAND "${timeout}" --preserve-status --foreground --signal=INT --kill-after=60 3 "${program}"
    --limit 40 --batch 8 --epochs 1000000 --checkpoint "${folder}/checkpoint" --resume --csv "${folder}/log.csv"
    --plot "${folder}/plot.svg"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT result EQUAL 130 OR NOT output MATCHES "interrupted; go on by --resume" OR NOT EXISTS "${folder}/checkpoint"
      OR NOT EXISTS "${folder}/plot.svg")
    message(FATAL_ERROR "${program}: ${result}, expected 130\n${output}${errors}")
  endif()
  file(STRINGS "${folder}/log.csv" rows REGEX "^[0-9]+,")
  list(LENGTH rows steps)
  math(EXPR last "${steps} - 1")
  list(GET rows ${last} row)
  if(NOT steps GREATER steps_before OR NOT row MATCHES "^${last},")
    message(FATAL_ERROR "${steps} rows, the last one ${row}; expected one for each step")
  endif()
endforeach()
message(STATUS "${steps} steps, interrupted twice")
