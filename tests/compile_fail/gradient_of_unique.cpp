// expect: tenon: gradients do not reach through this algorithm
// lines: 10: one sentence for all algorithms, in a header that others include
// tests/compile_fail/gradient_of_unique.cpp: a variable in an algorithm whose result is a tensor.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

double statement(const tenon::tensor<double, tenon::rank<1>>& x) {
  const auto v = tenon::variable<0>(x);
#ifdef MISUSE
  const auto lines = tenon::unique(v).values;
#else
  const auto lines = tenon::sort(v, tenon::axis<0>);
#endif
  const auto [dx] = tenon::gradient(tenon::sum(lines), tenon::wrt(v));
  return tenon::sum(dx);
}
