# Users' projects that are only configured, for what CMake makes of their targets:
#   targets    static libraries that link tenon::compiled are exported and used. The folder of Tenon may be added
#              and then found as a package; the other way round is refused;
#   absolute   the package with an absolute folder of headers, as Nix and Guix have it;
#   cuda       sources of CUDA get C++20, once.
# Variables: way, tenon_source, tenon_build, version, scratch, compiler, generator, nvcc (for cuda).
# SPDX-License-Identifier: Apache-2.0
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
file(REMOVE_RECURSE "${scratch}")
file(MAKE_DIRECTORY "${scratch}")

# configure(<project> <name> <arguments>...): configures it in a folder of that name, and sets `commands` to those that
# compile it.
function(configure project name)
  run("${CMAKE_COMMAND}" -S "${project}" -B "${scratch}/${name}" -G "${generator}" "-DCMAKE_CXX_COMPILER=${compiler}"
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DTENON_XSIMD=OFF -DTENON_PNG=OFF -DTENON_ZLIB=OFF
    "-DTENON_VERSION=${version}" --no-warn-unused-cli ${ARGN})
  set(commands "")
  if(EXISTS "${scratch}/${name}/compile_commands.json")
    file(STRINGS "${scratch}/${name}/compile_commands.json" commands REGEX "\"command\": ")
  endif()
  set(commands "${commands}" PARENT_SCOPE)
endfunction()

set(here "${CMAKE_CURRENT_LIST_DIR}")
set(package "-Dtenon_DIR=${tenon_build}" -DTENON_OPENMP=OFF)
if(way STREQUAL "targets")
  configure("${here}/targets" folder "-DTENON_SOURCE_DIR=${tenon_source}" "-Dtenon_DIR=${tenon_build}")
  configure("${here}/targets" library ${package})
  configure("${here}/targets" user ${package} "-DLIBRARIES=${scratch}/library/libraries.cmake")
  list(FILTER commands INCLUDE REGEX "-DTENON_COMPILED=1 .*/user_p[a-z]+[.]dir/")
  list(LENGTH commands count)
  if(NOT count EQUAL 1 OR NOT commands MATCHES "/user_public[.]dir/")
    message(FATAL_ERROR "users of the public library alone get TENON_COMPILED=1, but do ${count}: ${commands}")
  endif()
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${here}/targets" -B "${scratch}/library" -DFOUND_FIRST=ON
    "-DTENON_SOURCE_DIR=${tenon_source}" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE output)
  if(NOT failed OR NOT output MATCHES "tenon: the target tenon::tenon is there before this folder is added")
    message(FATAL_ERROR "the package, then the folder: exit status ${failed}, expected a sentence:\n${output}")
  endif()
elseif(way STREQUAL "absolute")
  string(RANDOM name)
  set(headers "/tmp/tenon-headers-${name}")  # CMake refuses a folder within the sources
  configure("${tenon_source}" tenon -DTENON_OPENMP=OFF -DTENON_BUILD_EXAMPLES=OFF
    "-DCMAKE_INSTALL_INCLUDEDIR=${headers}")
  run("${CMAKE_COMMAND}" --install "${scratch}/tenon" --prefix "${scratch}/prefix")
  configure("${here}/find_package" user "-Dtenon_ROOT=${scratch}/prefix" -DTENON_OPENMP=OFF)
  file(GLOB installed "${headers}/tenon/tenon.cppm")
  file(REMOVE_RECURSE "${headers}")
  if(NOT commands MATCHES "-isystem ?${headers} " OR NOT installed)
    message(FATAL_ERROR "the folder of headers is not ${headers}: ${commands}")
  endif()
  file(STRINGS "${scratch}/prefix/share/pkgconfig/tenon.pc" folder REGEX "^includedir=")
  if(NOT folder STREQUAL "includedir=${headers}")
    message(FATAL_ERROR "pkg-config's file says ${folder}")
  endif()
elseif(way STREQUAL "cuda")
  configure("${here}/cuda" user ${package} "-DCMAKE_CUDA_COMPILER=${nvcc}")
  list(LENGTH commands count)
  list(FILTER commands INCLUDE REGEX " -std=c[+][+]20 ")
  list(FILTER commands EXCLUDE REGEX " -std=.* -std=")
  list(LENGTH commands good)
  if(NOT count EQUAL 4 OR NOT good EQUAL 4)
    message(FATAL_ERROR "${good} of ${count} sources of CUDA get -std=c++20 once, expected 4 of 4: ${commands}")
  endif()
endif()
