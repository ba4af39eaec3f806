# What Tenon can do without: each library absent, and all of them half there, with a program that is built and run.
# Variables: absent (a library), or half (ON); found (what this machine has), tenon_source, scratch, compiler, generator.
# SPDX-License-Identifier: Apache-2.0
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
file(REMOVE_RECURSE "${scratch}")
file(MAKE_DIRECTORY "${scratch}")

set(expected ${found})
list(REMOVE_ITEM expected "${absent}")
if(absent STREQUAL "ZLIB")
  list(REMOVE_ITEM expected PNG)  # which needs it
endif()
if(absent)
  set(search "-DCMAKE_DISABLE_FIND_PACKAGE_${absent}=ON")
elseif(half)
  set(expected "")
  set(search "-DCMAKE_MODULE_PATH=${scratch}/modules")
  foreach(package_and_target IN ITEMS OpenMP=OpenMP::OpenMP_CXX xsimd=xsimd PNG=PNG::PNG ZLIB=ZLIB::ZLIB
      MPI=MPI::MPI_CXX Catch2=Catch2::Catch2 nlohmann_json=nlohmann_json::nlohmann_json benchmark=benchmark::benchmark
      Eigen3=Eigen3::Eigen xtensor=xtensor)
    string(REPLACE "=" ";" package_and_target "${package_and_target}")
    list(GET package_and_target 0 package)
    list(GET package_and_target 1 target)
    configure_file("${CMAKE_CURRENT_LIST_DIR}/half/module.cmake.in" "${scratch}/modules/Find${package}.cmake" @ONLY)
  endforeach()
endif()
list(JOIN expected " " expected)
string(STRIP "with ${expected}" expected)

run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/optional" -B "${scratch}/user" -G "${generator}" ${search}
  "-DTENON_SOURCE_DIR=${tenon_source}" "-DCMAKE_CXX_COMPILER=${compiler}" -DCMAKE_BUILD_TYPE=Debug --no-warn-unused-cli)
run("${CMAKE_COMMAND}" --build "${scratch}/user")
run("${scratch}/user/user")
if(NOT output STREQUAL "${expected}\n")
  message(FATAL_ERROR "the program prints `${output}`, expected `${expected}`")
endif()

if(half)  # Tenon itself: no file of examples or benchmarks is compiled with what is half there
  run("${CMAKE_COMMAND}" -S "${tenon_source}" -B "${scratch}/tenon" -G "${generator}" ${search}
    -DTENON_BUILD_BENCHMARKS=ON "-DCMAKE_CXX_COMPILER=${compiler}" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
  file(READ "${scratch}/tenon/compile_commands.json" commands)
  if(NOT commands MATCHES "examples/mnist/main[.]cpp" OR commands MATCHES "this-target-is-half|TENON_MPI|benchmarks/w01")
    message(FATAL_ERROR "commands that compile examples:\n${commands}")
  endif()
endif()
