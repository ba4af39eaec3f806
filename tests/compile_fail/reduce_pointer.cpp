// expect: tenon: the function of reduce is a struct without members or a lambda without captures, and no pointer
// tests/compile_fail/reduce_pointer.cpp: a plain function as what folds.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

float product_of(float left, float right) { return left * right; }

void statement(const tenon::tensor<float, tenon::rank<1>>& x) {
#ifdef MISUSE
  (void)tenon::reduce(x, tenon::axis<0>, 1, product_of);
#else
  (void)tenon::reduce(x, tenon::axis<0>, 1, [](float left, float right) { return product_of(left, right); });
#endif
}
