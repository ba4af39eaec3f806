// expect: tenon: a loss takes x and a target of as many axes
// tests/compile_fail/loss_target_rank.cpp: a target of [n] beside an output of [n, 1].
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/distance_loss.hpp>

#ifdef MISUSE
constexpr int axes = 1;
#else
constexpr int axes = 2;
#endif

auto statement(const tenon::tensor<float, tenon::rank<2>>& y, const tenon::tensor<float, tenon::rank<axes>>& target) {
  return tenon::nn::mse_loss(y, target);
}
