// expect: tenon: the destination has fewer axes than the expression
// tests/compile_fail/destination_rank.cpp: a destination of lower rank, where no axis is known to have extent 1.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

void statement(const tenon::tensor<float, tenon::rank<2>>& a, tenon::tensor<float, tenon::rank<1>>& c) {
#ifdef MISUSE
  c = a + 1;
#else
  c = tenon::sum(a, tenon::axis<1>);
#endif
}
