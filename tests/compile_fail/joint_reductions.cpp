// expect: tenon: evaluate joins pointwise expressions; assign reductions and contractions by themselves
// tests/compile_fail/joint_reductions.cpp: a reduction among several outputs.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

void statement(const tenon::tensor<float, tenon::rank<2>>& a, tenon::tensor<float, tenon::rank<2>>& c,
               tenon::tensor<float, tenon::rank<2>>& d) {
#ifdef MISUSE
  tenon::evaluate(tenon::assign(c, a + 1), tenon::assign(d, a * tenon::sum(a, tenon::axis<1>)));
#else
  tenon::evaluate(tenon::assign(c, a + 1), tenon::assign(d, a * 2));
#endif
}
