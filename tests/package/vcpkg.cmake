# The port of vcpkg says the headers' version; where there is vcpkg, it installs the port, and a user's program is built
# against it and run.
# Variables: tenon_source, version, scratch, compiler, generator, vcpkg (empty: there is none).
# SPDX-License-Identifier: Apache-2.0
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
set(ports "${tenon_source}/cmake/packaging/vcpkg")
file(READ "${ports}/tenon/vcpkg.json" manifest)
string(JSON stated GET "${manifest}" version)
if(NOT stated STREQUAL version)
  message(FATAL_ERROR "cmake/packaging/vcpkg/tenon/vcpkg.json: version ${stated}, the headers have ${version}")
endif()
if(NOT vcpkg)
  message("skipped: vcpkg not found, the port is not built")
  return()
endif()
file(REMOVE_RECURSE "${scratch}")
cmake_path(GET vcpkg PARENT_PATH root)
run("${vcpkg}" install tenon --classic "--overlay-ports=${ports}" "--x-install-root=${scratch}/installed"
  --binarysource=clear)
run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/find_package" -B "${scratch}/build" -G "${generator}"
  "-DCMAKE_TOOLCHAIN_FILE=${root}/scripts/buildsystems/vcpkg.cmake" "-DVCPKG_INSTALLED_DIR=${scratch}/installed"
  "-DTENON_VERSION=${version}" "-DCMAKE_CXX_COMPILER=${compiler}" -DCMAKE_BUILD_TYPE=Debug)
run("${CMAKE_COMMAND}" --build "${scratch}/build")
run("${scratch}/build/user")
if(NOT output STREQUAL "2 5 10\n")
  message(FATAL_ERROR "the program prints ${output}")
endif()
