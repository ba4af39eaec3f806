// expect: tenon: this operation has no derivative; stop_gradient(x) makes its result a constant
// lines: 20: the sweep stands between the call and the operation
// tests/compile_fail/no_derivative.cpp: a gradient through an operation that has none.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

/// A function of the user's, with its derivative or without.
struct cube {
  double operator()(double x) const { return x * x * x; }
#ifndef MISUSE
  static auto gradient(tenon::of_operand<0>, const auto& g, const auto&, const auto& x) { return g * (3 * x * x); }
#endif
};

double statement(const tenon::tensor<double, tenon::rank<1>>& x) {
  const auto v = tenon::variable<0>(x);
  const auto [dx] = tenon::gradient(tenon::sum(tenon::map(cube{}, v)), tenon::wrt(v));
  return tenon::sum(dx);
}
