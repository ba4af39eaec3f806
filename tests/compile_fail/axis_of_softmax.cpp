// expect: tenon: axes are written as in softmax(x, axis<1>), or these arguments do not fit
// tests/compile_fail/axis_of_softmax.cpp: an axis as an argument of a function that is no reduction.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<float, tenon::rank<2>>;

void statement(const matrix& x, matrix& y) {
#ifdef MISUSE
  y = tenon::softmax(x, 1);
#else
  y = tenon::softmax(x, tenon::axis<1>);
#endif
}
