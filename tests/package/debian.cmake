# Debian's package: it is made, unpacked, found by a user's project, and has no errors for lintian, where that is found.
# Variables: tenon_source, version, scratch, compiler, generator, lintian (empty: not found).
# SPDX-License-Identifier: Apache-2.0
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
file(REMOVE_RECURSE "${scratch}")
run("${CMAKE_COMMAND}" -S "${tenon_source}" -B "${scratch}/tenon" -G "${generator}" -DTENON_BUILD_EXAMPLES=OFF
  "-DCMAKE_CXX_COMPILER=${compiler}")
cmake_path(GET CMAKE_COMMAND PARENT_PATH programs)
run("${CMAKE_COMMAND}" -E chdir "${scratch}/tenon" "${programs}/cpack")
set(package "${scratch}/tenon/libtenon-dev_${version}_all.deb")
run(dpkg-deb --extract "${package}" "${scratch}/root")
run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/find_package" -B "${scratch}/user" -G "${generator}"
  "-Dtenon_ROOT=${scratch}/root/usr" "-DTENON_VERSION=${version}" "-DCMAKE_CXX_COMPILER=${compiler}" -DCMAKE_BUILD_TYPE=Debug)
run("${CMAKE_COMMAND}" --build "${scratch}/user")
run("${scratch}/user/user")
if(NOT output STREQUAL "2 5 10\n")
  message(FATAL_ERROR "the program prints `${output}`, expected `2 5 10`")
endif()
if(lintian)
  run("${lintian}" --profile debian --fail-on error --allow-root "${package}")
  message(STATUS "lintian: ${output}")
else()
  message(STATUS "lintian is not found: the package was only used")
endif()
