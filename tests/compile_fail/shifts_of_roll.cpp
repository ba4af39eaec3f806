// expect: tenon: axes are written as in roll(x, 1, axis<1>), several shifts in braces, roll(x, {1, 2}, axis<0, 1>)
// tests/compile_fail/shifts_of_roll.cpp: shifts of a type that is none of Tenon's.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#include <array>

using matrix = tenon::tensor<float, tenon::rank<2>>;

void statement(const matrix& x, matrix& y) {
#ifdef MISUSE
  y = tenon::roll(x, std::array<tenon::index, 2>{1, 2}, tenon::axis<0, 1>);
#else
  y = tenon::roll(x, {1, 2}, tenon::axis<0, 1>);
#endif
}
