// expect: tenon: axes are written as in stddev(x, axis<1>), a correction behind them, stddev(x, all_axes{}, 1)
// tests/compile_fail/correction_without_axes.cpp: a correction in the place of axes.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using vector = tenon::tensor<double, tenon::rank<1>>;

double statement(const vector& x) {
#ifdef MISUSE
  return tenon::stddev(x, 1);
#else
  return tenon::stddev(x, tenon::all_axes{}, 1);
#endif
}
