// expect: tenon: the value still has axes; sum(x) and max(x, drop<0>) have fewer
// lines: 12: a compiler tells first what it cannot convert
// compiler: Clang: g++ names no conversion that it does not consider
// tests/compile_fail/axes_in_result.cpp: a sum along an axis made a number.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using vector = tenon::tensor<double, tenon::rank<1>>;

double statement(const vector& x) {
#ifdef MISUSE
  const double total = tenon::sum(x, tenon::axis<0>);
#else
  const double total = tenon::sum(x);
#endif
  return total;
}
