// expect: tenon: the norm of triplet_margin_options is at least 1
// tests/compile_fail/triplet_norm.cpp: distances of rows by a norm of 0.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/distance_loss.hpp>

#ifdef MISUSE
constexpr int norm = 0;
#else
constexpr int norm = 1;
#endif

auto statement(const tenon::tensor<float, tenon::rank<2>>& x) {
  return tenon::nn::triplet_margin_loss(x, x, x, tenon::nn::triplet_margin_options<norm>());
}
