// expect: tenon: needs g++ 12 or clang++ 18, or a newer one
// tests/compile_fail/old_compiler.cpp: a compiler that lacks what the headers need.
// SPDX-License-Identifier: Apache-2.0
#ifdef MISUSE
#undef __clang_major__
#define __clang_major__ 17
#undef __GNUC__
#define __GNUC__ 11
#endif
#include <tenon/base/config.hpp>

static_assert(TENON_VERSION > 0);
