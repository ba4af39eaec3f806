// expect: tenon: this operation has no derivative; stop_gradient(x) makes its result a constant
// expect: tenon: complex numbers have no derivative; stop_gradient(x) makes a result a constant
// lines: 20: the sweep stands between the call and the operation
// tests/compile_fail/no_derivative.cpp: gradients through an operation that has none, and of complex numbers.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

#include <tenon/expr/operations/complex.hpp>

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

#ifdef MISUSE
using number = std::complex<double>;
#else
using number = double;
#endif

number other_statement(const tenon::tensor<number, tenon::rank<1>>& x) {
  const auto v = tenon::variable<0>(x);
  const auto [dx] = tenon::gradient(tenon::sum(v * v), tenon::wrt(v));
  return tenon::sum(dx);
}
