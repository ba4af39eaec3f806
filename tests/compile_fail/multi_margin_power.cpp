// expect: tenon: the power of multi_margin_options is 1 or 2
// tests/compile_fail/multi_margin_power.cpp: a margin that counts to the power of 3.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/margin_loss.hpp>

#ifdef MISUSE
constexpr int power = 3;
#else
constexpr int power = 2;
#endif

auto statement(const tenon::tensor<float, tenon::rank<2>>& x, const tenon::tensor<int, tenon::rank<1>>& labels) {
  return tenon::nn::multi_margin_loss(x, labels, tenon::nn::multi_margin_options<power>());
}
