// expect: tenon: several quantiles stand side by side along their axis, which stays
// lines: 8: g++ says first by which headers it came
// tests/compile_fail/several_quantiles.cpp: the axis of several quantiles, dropped.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

void statement(const tenon::tensor<float, tenon::rank<2>>& x) {
#ifdef MISUSE
  tenon::quantile(x, {0.25, 0.75}, tenon::drop<0>);
#else
  static_cast<void>(tenon::quantile(x, {0.25, 0.75}, tenon::axis<0>));
#endif
}
