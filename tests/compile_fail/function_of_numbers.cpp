// expect: tenon: one operand is a tensor; of numbers alone, write std::sqrt(2.0)
// lines: 12: the sentence stands in the line of a deleted function, and g++ says first by which headers it came
// tests/compile_fail/function_of_numbers.cpp: a function of plain numbers.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using vector = tenon::tensor<double, tenon::rank<1>>;

double statement(const vector& x) {
#ifdef MISUSE
  return tenon::lerp(1.0, 2.0, 0.5);
#else
  return tenon::sum(tenon::lerp(1.0, x, 0.5));
#endif
}
