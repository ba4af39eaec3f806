// expect: tenon: one index for each axis
// tests/compile_fail/wrong_index_count.cpp: one index into a tensor of two axes.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

float element(const tenon::tensor<float, tenon::rank<2>>& a) {
#ifdef MISUSE
  return a(1);
#else
  return a(1, 0);
#endif
}
