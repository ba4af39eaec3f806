// expect: tenon: x(i, j) takes positions and ranges; elements of indices are take(x, indices, axis<0>)
// lines: 7: g++ names the calls within the subscript
// tests/compile_fail/indices_in_parentheses.cpp: a tensor of indices among the positions of a part.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

void statement(const tenon::tensor<float, tenon::rank<2>>& x, const tenon::tensor<int, tenon::rank<1>>& indices,
               tenon::tensor<float, tenon::rank<2>>& y) {
#ifdef MISUSE
  y = x(indices, tenon::all_of);
#else
  y = tenon::take(x, indices, tenon::axis<0>);
#endif
}
