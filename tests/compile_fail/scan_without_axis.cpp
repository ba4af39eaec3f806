// expect: tenon: axes are part of the type, cumsum(x, axis<0>)
// tests/compile_fail/scan_without_axis.cpp: a cumulative sum of no axis.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using vector = tenon::tensor<double, tenon::rank<1>>;

auto statement(const vector& x) {
#ifdef MISUSE
  return tenon::cumsum(x);
#else
  return tenon::cumsum;
#endif
}
