// expect: tenon: x[x > 0] = 0 is written x = where(x > 0, 0, x)
// lines: 7: g++ names the calls within the subscript
// tests/compile_fail/mask_in_brackets.cpp: a mask as a subscript.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<float, tenon::rank<2>>;

void statement(matrix& x) {
#ifdef MISUSE
  x[x > 0] = 0;
#else
  x = tenon::where(x > 0, 0, x);
#endif
}
