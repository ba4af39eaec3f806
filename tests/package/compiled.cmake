# Builds the user's program from headers alone and with tenon::compiled: both print the same, the second object is
# smaller, and a program whose flags are not the library's does not link and says why. A shared library may hold it.
# Variables: tenon_source, tenon_build, version, scratch, compiler, generator.
# SPDX-License-Identifier: Apache-2.0
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
file(REMOVE_RECURSE "${scratch}")
run("${CMAKE_COMMAND}" --install "${tenon_build}" --prefix "${scratch}/prefix")
run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/compiled" -B "${scratch}" -G "${generator}"
  "-Dtenon_ROOT=${scratch}/prefix" "-DTENON_VERSION=${version}" "-DCMAKE_CXX_COMPILER=${compiler}"
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1)
foreach(program IN ITEMS user_headers user_compiled)
  run("${CMAKE_COMMAND}" --build "${scratch}" --target ${program})
  run("${scratch}/${program}")
  set(${program} "${output}")
  file(GLOB object "${scratch}/CMakeFiles/${program}.dir/main.cpp.*")
  file(SIZE "${object}" ${program}_size)
endforeach()
message(STATUS "objects of ${user_headers_size} and ${user_compiled_size} bytes; both print\n${user_headers}")
if(NOT user_headers STREQUAL user_compiled)
  message(FATAL_ERROR "the program prints with tenon::compiled\n${user_compiled}and from headers\n${user_headers}")
endif()
math(EXPR most "${user_headers_size} * 4 / 5")
if(user_compiled_size GREATER most)
  message(FATAL_ERROR "the object takes ${user_compiled_size} bytes with tenon::compiled, ${user_headers_size} from headers")
endif()
run("${CMAKE_COMMAND}" --build "${scratch}" --target user_shared)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${scratch}" --target user_other RESULT_VARIABLE failed
  OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT failed OR NOT output MATCHES "tenon_compiled_for<[^>]*>::these_flags")
  message(FATAL_ERROR "a program with other flags links, or its error does not name them:\n${output}")
endif()
