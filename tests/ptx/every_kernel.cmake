# Fails where a kernel of include/ was run by no program of the preset test-ptx, by the counts of their launches. The
# counts are removed, so that the next run begins without them.
# Variables: include, counts (a folder).
# SPDX-License-Identifier: Apache-2.0
set(launches "")
file(GLOB files "${counts}/*.jsonl")
foreach(file IN LISTS files)
  file(READ "${file}" more)
  string(APPEND launches "${more}")
endforeach()
if(files)
  file(REMOVE ${files})
endif()

set(kernels "")
file(GLOB_RECURSE headers "${include}/*.hpp")
foreach(header IN LISTS headers)
  file(STRINGS "${header}" lines REGEX "^struct ([a-z_]+_kernel|sweep) .*{$")
  list(TRANSFORM lines REPLACE "^struct ([a-z_]+) .*" "\\1")
  list(APPEND kernels ${lines})
endforeach()
list(REMOVE_ITEM kernels any_kernel)  # which stands for all of them

set(missing "")
foreach(kernel IN LISTS kernels)
  if(NOT launches MATCHES "tenon::([a-z]+::)*${kernel}[<>]")
    list(APPEND missing "${kernel}")
  endif()
endforeach()
list(LENGTH kernels count)
if(missing)
  message(FATAL_ERROR "not run as PTX by any program: ${missing}; tests/ptx/runtime/every_kernel.cpp has a place for them")
endif()
message(STATUS "all of ${count} kernels have run as PTX")
