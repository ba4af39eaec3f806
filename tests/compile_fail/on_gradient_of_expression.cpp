// expect: tenon: on_gradient takes a traced value
// tests/compile_fail/on_gradient_of_expression.cpp: a look at the gradient of an expression, which nothing keeps.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

using vector = tenon::tensor<double, tenon::rank<1>>;

void statement(const vector& x) {
  const auto w = tenon::variable(x);
#ifdef MISUSE
  const tenon::traced h = tenon::on_gradient(w * 2, [](const auto&) {});
#else
  const tenon::traced h = tenon::on_gradient(tenon::traced(w * 2), [](const auto&) {});
#endif
  tenon::backward(tenon::sum(h));
}
