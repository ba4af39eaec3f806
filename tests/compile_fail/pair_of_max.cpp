// expect: tenon: a reduction is one expression; argmax(x, axis<1>) gives positions, topk(x, 1, axis<1>) both
// tests/compile_fail/pair_of_max.cpp: values and positions of a maximum, as PyTorch gives them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

void statement(const tenon::tensor<float, tenon::rank<2>>& x, tenon::tensor<float, tenon::rank<2>>& y) {
#ifdef MISUSE
  auto [values, positions] = tenon::max(x, tenon::axis<1>);
#else
  auto values = tenon::max(x, tenon::axis<1>);
#endif
  y = values;
}
