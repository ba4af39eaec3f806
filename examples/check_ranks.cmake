# Trains in one process and in two that MPI connects: losses must be the same, within what rounding comes to.
# Variables: program, which takes the options of examples/mnist; mpirun; folder, for what they write.
# SPDX-License-Identifier: Apache-2.0
set(training --limit 330 --batch 32 --epochs 1)  # the last batch is short
file(MAKE_DIRECTORY "${folder}")
set(ENV{OMP_NUM_THREADS} 1)

function(run ranks)
  execute_process(COMMAND ${ARGN} "${program}" ${training} --csv "${folder}/${ranks}.csv" RESULT_VARIABLE failed
    OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(failed OR NOT output MATCHES "test accuracy: ([0-9.]+)")
    message(FATAL_ERROR "${ARGN} ${program} fails on ${ranks} ranks: ${failed}\n${output}${errors}")
  endif()
endfunction()
run(one)
set(training ${training} --mpi)
run(two "${mpirun}" -n 2)

# Losses in units of 10^-6; all are below 10.
function(read_losses result file)
  file(STRINGS "${file}" rows REGEX "^[0-9]")
  set(losses "")
  foreach(row IN LISTS rows)
    if(NOT row MATCHES "^[0-9]+,([0-9])\\.?([0-9]*),")
      message(FATAL_ERROR "${file}: ${row} holds no loss below 10")
    endif()
    set(digits "${CMAKE_MATCH_1}${CMAKE_MATCH_2}000000")
    string(SUBSTRING "${digits}" 0 7 digits)
    math(EXPR loss "1${digits} - 10000000")
    list(APPEND losses ${loss})
  endforeach()
  set(${result} "${losses}" PARENT_SCOPE)
endfunction()
read_losses(one "${folder}/one.csv")
read_losses(two "${folder}/two.csv")
list(LENGTH one steps)
if(NOT steps EQUAL 11)
  message(FATAL_ERROR "${steps} steps, expected 11")
endif()
foreach(loss other IN ZIP_LISTS one two)
  math(EXPR difference "${loss} - ${other}")
  if(difference LESS -20 OR difference GREATER 20)
    message(FATAL_ERROR "losses of one and of two ranks differ by ${difference} millionths:\n${one}\n${two}")
  endif()
endforeach()
message(STATUS "${steps} losses of two ranks are those of one")

# A digit that does not fill the ranks is left out, and the epoch is whole without it.
execute_process(COMMAND "${mpirun}" -n 3 "${program}" --mpi --limit 47 --batch 12 --epochs 1 RESULT_VARIABLE failed
  OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(failed OR NOT output MATCHES "100[.]0 %")
  message(FATAL_ERROR "the epoch of three ranks is not whole: ${failed}\n${output}${errors}")
endif()
