# run(command arguments...): runs a command, keeps what it prints in `output`, and stops with that where it fails.
# SPDX-License-Identifier: Apache-2.0
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "${line}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()
