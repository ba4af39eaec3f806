# Builds and runs the user's program in one way, and compares what it prints.
# Variables: way, tenon_source, tenon_build, version, scratch, compiler, generator.
# SPDX-License-Identifier: Apache-2.0
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
file(REMOVE_RECURSE "${scratch}")
file(MAKE_DIRECTORY "${scratch}")

if(way STREQUAL "include_only")
  run("${compiler}" -std=c++20 "-I${tenon_source}/include" "${CMAKE_CURRENT_LIST_DIR}/main.cpp" -o "${scratch}/user")
elseif(way STREQUAL "pkg_config")
  run("${CMAKE_COMMAND}" --install "${tenon_build}" --prefix "${scratch}/prefix")
  set(ENV{PKG_CONFIG_PATH} "${scratch}/prefix/share/pkgconfig")
  run(pkg-config --validate tenon)
  run(pkg-config --modversion tenon)
  if(NOT output STREQUAL "${version}\n")
    message(FATAL_ERROR "pkg-config says version `${output}`, expected `${version}`")
  endif()
  run(pkg-config --cflags tenon)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run("${compiler}" -std=c++20 ${flags} "${CMAKE_CURRENT_LIST_DIR}/main.cpp" -o "${scratch}/user")
else()
  if(way STREQUAL "find_package")
    run("${CMAKE_COMMAND}" --install "${tenon_build}" --prefix "${scratch}/prefix")
    set(where "-Dtenon_ROOT=${scratch}/prefix")
  elseif(way STREQUAL "build_tree")
    set(where "-Dtenon_DIR=${tenon_build}")
  elseif(way STREQUAL "add_subdirectory")
    set(where "-DTENON_SOURCE_DIR=${tenon_source}")
  elseif(way STREQUAL "fetch_content")
    set(where "-DFETCHCONTENT_SOURCE_DIR_TENON=${tenon_source}")
  endif()
  run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/${way}" -B "${scratch}" -G "${generator}" "${where}"
    "-DTENON_VERSION=${version}" "-DCMAKE_CXX_COMPILER=${compiler}" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
    --no-warn-unused-cli)
  run("${CMAKE_COMMAND}" --build "${scratch}")
endif()

# Nothing of Tenon's own build reaches the user's: no optimisation, no processor, no warnings.
if(EXISTS "${scratch}/compile_commands.json")
  file(STRINGS "${scratch}/compile_commands.json" commands REGEX "\"command\": .*main[.]cpp")
  if(NOT commands MATCHES "-isystem ?[^ ]*include" OR commands MATCHES " -(W|O[0-9s]|march|fuse-ld)")
    message(FATAL_ERROR "flags of the user's program: ${commands}")
  endif()
endif()

run("${scratch}/user")
if(NOT output STREQUAL "2 5 10\n")
  message(FATAL_ERROR "the program prints `${output}`, expected `2 5 10`")
endif()
