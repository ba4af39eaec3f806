// expect: tenon: needs a 64-bit target with __int128: leave out -m32
// expect: the error above
// flags: -U__SIZEOF_INT128__
// tests/compile_fail/narrow_target.cpp: integers of 128 bits draw indices. Any compiler can be told that it has none.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

static_assert(TENON_VERSION > 0);
