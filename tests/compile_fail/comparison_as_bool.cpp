// expect: tenon: a condition is one bool, all(x == y) or any(x == y)
// tests/compile_fail/comparison_as_bool.cpp: a comparison of tensors as a result of type bool.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<float, tenon::rank<2>>;

bool statement(const matrix& x, const matrix& y) {
#ifdef MISUSE
  return x == y;
#else
  return tenon::all(x == y);
#endif
}
