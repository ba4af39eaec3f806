// expect: tenon: axes are part of the type, cumsum(x, axis<0>)
// tests/compile_fail/axis_of_scan.cpp: an axis of a scan as an argument.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<float, tenon::rank<2>>;

auto statement(const matrix& x) {
#ifdef MISUSE
  return tenon::cumsum(x, 0);
#else
  return tenon::cumsum;
#endif
}
