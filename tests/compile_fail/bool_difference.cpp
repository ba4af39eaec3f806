// expect: tenon: bools have no sign and no difference; write cast<int>(x > 0) - cast<int>(x < 0), !x or x != y
// lines: 9: it stands in the rule of the element type
// tests/compile_fail/bool_difference.cpp: a difference of bools, which would be true where the first one is less.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using vector = tenon::tensor<float, tenon::rank<1>>;

void statement(vector& y, const vector& x) {
#ifdef MISUSE
  y = (x > 0) - (x < 0);
#else
  y = tenon::cast<int>(x > 0) - tenon::cast<int>(x < 0);
  y = 1 - (x > 0);
#endif
}
