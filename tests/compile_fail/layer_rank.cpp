// expect: tenon: this layer takes inputs of another rank
// lines: 11: each layer asserts what it takes; the layers before it stand in between
// tests/compile_fail/layer_rank.cpp: a convolution behind images that were flattened.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

auto network() {
#ifdef MISUSE
  return nn::sequential(nn::conv2d<3, 8, 3>{}, nn::flatten{}, nn::conv2d<8, 8, 3>{});
#else
  return nn::sequential(nn::conv2d<3, 8, 3>{}, nn::conv2d<8, 8, 3>{}, nn::flatten{});
#endif
}
