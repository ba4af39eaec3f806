// expect: tenon: needs NaN and infinity: leave out -ffast-math, -Ofast, -ffinite-math-only
// expect: the error above
// flags: -ffast-math
// tests/compile_fail/finite_math.cpp: flags that let compilers assume that no number is NaN or infinite.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

static_assert(TENON_VERSION > 0);
