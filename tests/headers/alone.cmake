# Every header stands alone: as a module of clang++, a header sees what it includes and nothing else. Each is read once,
# so that this takes a tenth of compiling each of them. Standard headers are one module; tests/house/standard_names.hpp
# says which of them a header needs.
# Variables: include, names (a file of headers below it), scratch, compiler (clang++), flags.
# SPDX-License-Identifier: Apache-2.0
include("${CMAKE_CURRENT_LIST_DIR}/../package/run.cmake")
file(REMOVE_RECURSE "${scratch}")

# `#include <vector>` finds a header that brings the module of all standard headers, and while that is made, the real one.
file(STRINGS "${include}/tenon/tenon.cppm" lines REGEX "^#include <[a-z_]+>")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "#include <(.*)>" "\\1" name "${line}")
  file(WRITE "${scratch}/standard/${name}"
    "#ifndef MAKING_STANDARD\n#include \"standard.hpp\"\n#elif __has_include_next(<${name}>)\n#include_next <${name}>\n#endif\n")
endforeach()
list(JOIN lines "\n" lines)
file(WRITE "${scratch}/standard/standard.hpp" "#define MAKING_STANDARD\n${lines}\n#undef MAKING_STANDARD\n")

set(modules "module standard { header \"${scratch}/standard/standard.hpp\" export * }\n")
set(program "")
file(STRINGS "${names}" headers)
foreach(header IN LISTS headers)
  string(APPEND modules "module \"${header}\" { header \"${include}/${header}\" export * }\n")
  string(APPEND program "#include <${header}>\n")
endforeach()
file(WRITE "${scratch}/modules.map" "${modules}")
file(WRITE "${scratch}/program.cpp" "${program}")
separate_arguments(flags)
run("${compiler}" ${flags} -std=c++20 -fsyntax-only "-I${scratch}/standard" "-I${include}" -fmodules
  -fno-implicit-module-maps "-fmodule-map-file=${scratch}/modules.map" "-fmodules-cache-path=${scratch}/modules"
  "${scratch}/program.cpp")
