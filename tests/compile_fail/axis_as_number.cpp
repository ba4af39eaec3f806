// expect: tenon: axes are part of the type, sum(x, axis<0>)
// tests/compile_fail/axis_as_number.cpp: an axis as an argument.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

void statement(const tenon::tensor<float, tenon::rank<2>>& a, tenon::tensor<float, tenon::rank<1>>& c) {
#ifdef MISUSE
  c = tenon::sum(a, 0);
#else
  c = tenon::sum(a, tenon::axis<0>);
#endif
}
