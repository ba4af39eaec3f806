// expect: tenon: where the operands of cross differ in rank, its axis is counted from the back, axis<-1>
// lines: 8: g++ says first by which headers it came
// tests/compile_fail/cross_of_ranks.cpp: an axis counted from the front, which is another axis of each operand.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#ifdef MISUSE
inline constexpr auto along = tenon::axis<0>;
#else
inline constexpr auto along = tenon::axis<-1>;
#endif

void statement(const tenon::tensor<float, tenon::rank<2>>& a, const tenon::tensor<float, tenon::rank<1>>& b) {
  static_cast<void>(tenon::cross(a, b, along));
}
