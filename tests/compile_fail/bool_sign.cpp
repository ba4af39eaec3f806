// expect: tenon: bools have no sign and no difference; write cast<int>(x > 0) - cast<int>(x < 0), !x or x != y
// lines: 9: it stands in the rule of the element type
// tests/compile_fail/bool_sign.cpp: the opposite of a bool, which would be itself.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using vector = tenon::tensor<float, tenon::rank<1>>;

void statement(tenon::tensor<bool, tenon::rank<1>>& y, const vector& x) {
#ifdef MISUSE
  y = -(x > 0);
#else
  y = !(x > 0);
#endif
}
