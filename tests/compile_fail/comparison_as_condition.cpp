// expect: tenon: a condition is one bool, all(x == y) or any(x == y)
// tests/compile_fail/comparison_as_condition.cpp: a comparison of tensors as a condition.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<float, tenon::rank<2>>;

int statement(const matrix& x, const matrix& y) {
#ifdef MISUSE
  if (x == y) return 1;
#else
  if (tenon::all(x == y)) return 1;
#endif
  return 0;
}
