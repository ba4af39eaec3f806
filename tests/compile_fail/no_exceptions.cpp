// expect: tenon: needs exceptions: leave out -fno-exceptions
// expect: the error above
// flags: -fno-exceptions
// tests/compile_fail/no_exceptions.cpp: errors are exceptions.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

static_assert(TENON_VERSION > 0);
