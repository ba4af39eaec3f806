// expect: tenon: an expression has no elements to keep, give variable a tensor of it
// lines: 6: g++ names two headers and the door
// tests/compile_fail/variable_of_expression.cpp: gradients of an expression, which has no elements to keep.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

using vector = tenon::tensor<double, tenon::rank<1>>;

void statement(const vector& x) {
#ifdef MISUSE
  const auto v = tenon::variable(x * 2);
#else
  const auto v = tenon::variable(vector(x * 2));
#endif
  tenon::backward(tenon::sum(v * v));
}
