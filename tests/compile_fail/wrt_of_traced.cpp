// expect: tenon: wrt takes numbered variables, variable<0>(x); gradients of traced values are what loss.
// expect: tenon: a variable of wrt is not in this expression, whose traced values are constants; make them of v
// expect: tenon: a variable of wrt is not in this expression, whose traced values are constants
// expect: tenon: a tensor of wrt is no operand of this expression; of what a layer or a traced value reads
// tests/compile_fail/wrt_of_traced.cpp: gradients of what is traced, or of what made traced values.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/gradient.hpp>

#include <tenon/tenon.hpp>

using vector = tenon::tensor<double, tenon::rank<1>>;
using matrix = tenon::tensor<double, tenon::rank<2>>;

void gradients(const vector& x, const vector& direction, const matrix& y) {
  const auto v = tenon::variable(x);
  const auto numbered = tenon::variable<0>(x);
  const tenon::traced h = v * 2;
#ifdef MISUSE
  const auto [dv] = tenon::gradient(tenon::sum(h * h), tenon::wrt(v));
  const auto [missed] = tenon::gradient(tenon::sum(h * h), tenon::wrt(numbered));
  const auto change = tenon::jvp(h * h, tenon::wrt(numbered), direction);
  const auto [value, dy] = tenon::value_and_gradient(tenon::sum(h * h), tenon::wrt(y));
#else
  const auto [dv] = tenon::gradient(tenon::sum(h * numbered), tenon::wrt(numbered));
  const auto change = tenon::jvp(h * numbered, tenon::wrt(numbered), direction);
  const auto [value, dy] = tenon::value_and_gradient(tenon::sum(tenon::matmul(y, h)), tenon::wrt(y));
#endif
}
