// expect: tenon: 0 < x < 2 asks whether a bool is less than 2; write 0 < x && x < 2
// lines: 9: it stands in the rule of the element type
// tests/compile_fail/chained_comparison.cpp: a comparison of what a comparison says.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using vector = tenon::tensor<float, tenon::rank<1>>;

void statement(tenon::tensor<bool, tenon::rank<1>>& y, const vector& x) {
#ifdef MISUSE
  y = 0 < x < 2;
#else
  y = 0 < x && x < 2;
  y = (0 < x) < (x < 2);
  y = y < true;
#endif
}
