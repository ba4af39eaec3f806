// expect: tenon: needs C++20: -std=c++20
// expect: the error above
// flags: -std=gnu++17
// tests/compile_fail/old_standard.cpp: what compilers do without -std=c++20: one error, and they stop.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train.hpp>

static_assert(TENON_VERSION > 0);
