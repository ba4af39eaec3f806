# Interrupts an endless training, twice, as Ctrl-C does: it must end by itself, with code 130 and a checkpoint, and go
# on. Variables: program, which takes the options of examples/mnist; folder, which this may overwrite.
# SPDX-License-Identifier: Apache-2.0
# Each interruption waits for a step of its own in the log.
find_program(shell sh REQUIRED)
set(interrupt [[
  program=$1 log=$2 steps=$3
  shift 3
  "$program" "$@" &
  training=$!
  until [ "$(cat "$log" 2>/dev/null | grep -c '^[0-9]*,')" -gt "$steps" ] || ! kill -0 $training; do sleep 0.05; done
  kill -INT $training
  wait $training]])
set(steps 0)
file(REMOVE_RECURSE "${folder}")
file(MAKE_DIRECTORY "${folder}")
foreach(run IN ITEMS first second)
  set(steps_before ${steps})
  execute_process(COMMAND "${shell}" -c "${interrupt}" sh "${program}" "${folder}/log.csv" ${steps_before}
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
