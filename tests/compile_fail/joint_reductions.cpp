// expect: tenon: evaluate joins pointwise expressions, reductions over the same axes, and rows over the same last axes
// tests/compile_fail/joint_reductions.cpp: outputs that reduce different axes.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

void statement(const tenon::tensor<float, tenon::rank<2>>& a, tenon::tensor<float, tenon::rank<1>>& c,
               tenon::tensor<float, tenon::rank<1>>& d) {
#ifdef MISUSE
  tenon::evaluate(tenon::assign(c, tenon::sum(a, tenon::axis<1>)), tenon::assign(d, tenon::sum(a, tenon::axis<0>)));
#else
  tenon::evaluate(tenon::assign(c, tenon::sum(a, tenon::axis<1>)), tenon::assign(d, tenon::max(a, tenon::axis<1>)));
#endif
}
