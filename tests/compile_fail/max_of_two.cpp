// expect: tenon: a reduction folds one tensor; of two, or of a tensor and a number, write maximum(x, y)
// lines: 9: the function is a template that the call makes
// tests/compile_fail/max_of_two.cpp: the greater of two tensors, as std::max is of two numbers.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using vector = tenon::tensor<float, tenon::rank<1>>;

void statement(vector& y, const vector& a, const vector& b) {
#ifdef MISUSE
  y = tenon::max(a, b);
#else
  y = tenon::maximum(a, b);
#endif
}
