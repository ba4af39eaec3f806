// expect: tenon: libpng reads PNG files: compile with -DTENON_PNG=1 and link -lpng; with CMake, TENON_PNG=ON
// tests/compile_fail/png_without_library.cpp: a PNG file in a program without libpng.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/png.hpp>
#include <tenon/io/pnm.hpp>

void statement(const char* path) {
#ifdef MISUSE
  tenon::io::read_png(path);
#else
  tenon::io::read_pnm(path);
#endif
}
