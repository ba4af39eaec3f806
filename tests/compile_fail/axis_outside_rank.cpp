// expect: tenon: an axis must lie in [-rank, rank)
// tests/compile_fail/axis_outside_rank.cpp: a reduction over an axis that is not there.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#ifdef MISUSE
constexpr int axis = 2;
#else
constexpr int axis = 1;
#endif

void statement(const tenon::tensor<float, tenon::rank<2>>& a, tenon::tensor<float, tenon::rank<1>>& c) {
  c = tenon::sum(a, tenon::axis<axis>);
}
