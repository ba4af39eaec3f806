// expect: tenon: this operation has no derivative; stop_gradient(x) makes its result a constant
// lines: 20: the sweep stands between the call and the operation
// tests/compile_fail/no_derivative.cpp: a gradient through an operation that has none.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

#ifdef MISUSE
inline constexpr auto function = tenon::trigamma;
#else
inline constexpr auto function = tenon::lgamma;
#endif

double statement(const tenon::tensor<double, tenon::rank<1>>& x) {
  const auto v = tenon::variable<0>(x);
  const auto [dx] = tenon::gradient(tenon::sum(function(v)), tenon::wrt(v));
  return tenon::sum(dx);
}
