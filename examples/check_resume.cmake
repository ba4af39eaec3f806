# Kills a training at random moments and goes on, again and again: losses, weights and accuracy must be those of one
# that was never stopped. Variables: program, which takes the options of examples/mnist; folder, which this may overwrite.
# SPDX-License-Identifier: Apache-2.0
find_program(shell sh REQUIRED)
set(kills_wanted 20)
set(training --limit 40 --batch 8 --epochs 3)

file(REMOVE_RECURSE "${folder}")
file(MAKE_DIRECTORY "${folder}")
string(TIMESTAMP begin "%s%f")
execute_process(COMMAND "${program}" ${training} --csv "${folder}/whole.csv" --save "${folder}/whole"
  RESULT_VARIABLE failed OUTPUT_VARIABLE whole_output ERROR_VARIABLE errors)
string(TIMESTAMP end "%s%f")
if(failed)
  message(FATAL_ERROR "${program} fails: ${failed}\n${errors}")
endif()
string(REGEX MATCH "test accuracy: [0-9.]+" whole_accuracy "${whole_output}")
math(EXPR shortest "(${end} - ${begin}) * 2 / 5")  # microseconds until the first kill at most
if(shortest LESS 200000)
  set(shortest 200000)
endif()

set(kills 0)
set(trainings 0)
while(kills LESS kills_wanted)
  file(REMOVE "${folder}/checkpoint" "${folder}/resumed.csv")
  set(result "killed")
  set(longest ${shortest})
  while(NOT result EQUAL 0)
    string(RANDOM LENGTH 8 ALPHABET 0123456789 digits)
    math(EXPR moment "1 + 1${digits} % ${longest}")
    math(EXPR seconds "${moment} / 1000000")
    math(EXPR fraction "1000000 + ${moment} % 1000000")
    string(SUBSTRING "${fraction}" 1 6 fraction)
    execute_process(COMMAND "${shell}" -c [[echo $$ > "$0"; exec "$@"]] "${folder}/process"
      "${program}" ${training} --csv "${folder}/resumed.csv" --save "${folder}/resumed"
      --checkpoint "${folder}/checkpoint" --every 2 --resume TIMEOUT "${seconds}.${fraction}"
      RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
    if(result MATCHES "terminated|timeout")
      # LLVM's OpenMP has a file by the number of its process. Killed before it fills that, it leaves an empty one, and a
      # later process of the same number, whichever it is, ends with a bus error.
      set(left)
      if(EXISTS "${folder}/process")  # else it was killed before it had begun
        file(STRINGS "${folder}/process" process LIMIT_COUNT 1)
        file(GLOB left "/dev/shm/__KMP_REGISTERED_LIB_${process}_*")
      endif()
      if(left)
        file(REMOVE ${left})
      endif()
      math(EXPR kills "${kills} + 1")
      math(EXPR longest "${longest} * 11 / 10")  # in the end long enough for a machine that has become slower
    elseif(NOT result EQUAL 0)
      message(FATAL_ERROR "${program} does not go on after ${kills} kills: ${result}\n${output}${errors}")
    endif()
  endwhile()
  math(EXPR trainings "${trainings} + 1")
  string(REGEX MATCH "test accuracy: [0-9.]+" accuracy "${output}")
  if(NOT accuracy STREQUAL whole_accuracy)
    message(FATAL_ERROR "${accuracy}, expected ${whole_accuracy} as without ${kills} kills")
  endif()
  foreach(file IN ITEMS .csv "")
    file(SHA256 "${folder}/whole${file}" expected)
    file(SHA256 "${folder}/resumed${file}" found)
    if(NOT found STREQUAL expected)
      message(FATAL_ERROR "${folder}/resumed${file} is another one than whole${file} after ${kills} kills")
    endif()
  endforeach()
endwhile()

# Batches of another size, or other digits, would be skipped or seen twice.
include("${CMAKE_CURRENT_LIST_DIR}/expect.cmake")
set(training ${training} --checkpoint "${folder}/checkpoint" --resume)
expect_run(2 "data.batch is 8, expected 4\n" ${training} --batch 4)
expect_run(2 "data.examples is 40, expected 48\n" ${training} --limit 48)
message(STATUS "${kills} kills in ${trainings} trainings: losses, weights and accuracy are those of one without")
