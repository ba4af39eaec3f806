// expect: tenon: checkpoint takes traced values
// tests/compile_fail/checkpoint_of_expression.cpp: a step of an expression, which nothing keeps.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

using vector = tenon::tensor<double, tenon::rank<1>>;

void statement(const vector& x) {
  const auto w = tenon::variable(x);
#ifdef MISUSE
  const tenon::traced h = tenon::checkpoint([](const auto& x) { return tenon::tanh(x); }, w * 2);
#else
  const tenon::traced h = tenon::checkpoint([](const auto& x) { return tenon::tanh(x); }, tenon::traced(w * 2));
#endif
  tenon::backward(tenon::sum(h));
}
