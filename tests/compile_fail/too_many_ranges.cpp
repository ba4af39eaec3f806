// expect: tenon: slice takes at most one range for each axis
// tests/compile_fail/too_many_ranges.cpp: more ranges than axes.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

void statement(const tenon::tensor<float, tenon::rank<1>>& a, tenon::tensor<float, tenon::rank<1>>& c) {
#ifdef MISUSE
  c = tenon::slice(a, tenon::range(0, 2), tenon::range(0, 2));
#else
  c = tenon::slice(a, tenon::range(0, 2));
#endif
}
