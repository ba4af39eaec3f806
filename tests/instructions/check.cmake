# Checks what nvcc makes of the kernels of one source, for one architecture. No kernel may use memory of a thread (spills
# and stacks) or an access that does not name its state space: both are slow, and no test of results shows them. Lines of
# the source say more:
#   // has: <regular expression>      in the PTX text
#   // lacks: <regular expression>
#   // registers: <number>            of a thread, at most
#   // spills: <number>               bytes of memory of a thread, at most; 0 where nothing is said
#   // architectures: <numbers>        of the case, where it is not for all
# Variables: nvcc, include, source, architecture (such as 90a), scratch.
# SPDX-License-Identifier: Apache-2.0
function(expectations result name)
  file(STRINGS "${source}" lines REGEX "^// ${name}: .")
  list(TRANSFORM lines REPLACE "^// ${name}: " "")
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()

expectations(architectures architectures)
if(architectures AND NOT " ${architectures} " MATCHES " ${architecture} ")
  return()
endif()

set(here "${source} for sm_${architecture}")
file(REMOVE_RECURSE "${scratch}")
file(MAKE_DIRECTORY "${scratch}")
execute_process(
  COMMAND "${nvcc}" -std=c++20 "-I${include}" "-gencode=arch=compute_${architecture},code=sm_${architecture}" -cubin
    --keep "--keep-dir=${scratch}" --resource-usage "${source}" -o "${scratch}/kernels.cubin"
  RESULT_VARIABLE failed OUTPUT_VARIABLE report ERROR_VARIABLE report)
if(failed)
  message(FATAL_ERROR "${here}: does not compile:\n${report}")
endif()
file(GLOB texts "${scratch}/*.ptx")
file(READ "${texts}" text)

expectations(wanted has)
foreach(each IN LISTS wanted)
  if(NOT text MATCHES "${each}")
    message(SEND_ERROR "${here}: no kernel has ${each}")
  endif()
endforeach()
expectations(unwanted lacks)
foreach(each IN LISTS unwanted ITEMS "[ \t](ld|st)\\.(v[248]\\.)?[bfsu][0-9]+[ \t]" "[ \t](ld|st)\\.local")
  if(text MATCHES "[^\n]*${each}[^\n]*")
    message(SEND_ERROR "${here}: a kernel has ${each}: ${CMAKE_MATCH_0}")
  endif()
endforeach()
expectations(allowed spills)
if(NOT allowed)
  set(allowed 0)
endif()
string(REGEX MATCHALL "[0-9]+ bytes (stack frame|spill stores|spill loads)" spills "${report}")
foreach(each IN LISTS spills)
  string(REGEX MATCH "^[0-9]+" bytes "${each}")
  if(bytes GREATER allowed)
    message(SEND_ERROR "${here}: a kernel uses memory of a thread: ${each}")
  endif()
endforeach()
if(report MATCHES "[^\n]*(serialized|injected)[^\n]*")
  message(SEND_ERROR "${here}: products wait for each other: ${CMAKE_MATCH_0}")
endif()

expectations(most registers)
string(REGEX MATCHALL "Used [0-9]+ registers" uses "${report}")
if(NOT uses)
  message(SEND_ERROR "${here}: no kernel was compiled")
endif()
list(TRANSFORM uses REPLACE "[^0-9]" "")
foreach(registers IN LISTS uses)
  if(most AND registers GREATER most)
    message(SEND_ERROR "${here}: a kernel uses ${registers} registers, expected at most ${most}")
  endif()
endforeach()
