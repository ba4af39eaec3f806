// expect: tenon: this layer takes inputs of another rank; is a flatten missing?
// lines: 11: each layer asserts what it takes; the layers before it stand in between
// tests/compile_fail/missing_flatten.cpp: a linear layer right behind a convolution.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

auto network() {
#ifdef MISUSE
  return nn::sequential(nn::conv2d<3, 8, 3>{}, nn::linear<8, 10>{});
#else
  return nn::sequential(nn::conv2d<3, 8, 3>{}, nn::flatten{}, nn::linear<8, 10>{});
#endif
}
