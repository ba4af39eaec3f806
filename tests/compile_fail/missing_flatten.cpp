// expect: tenon: this layer does not fit its input; the extents must be equal
// expect: input_has<26
// lines: 13: each layer asserts what it takes; the calls that lead to it stand in between
// tests/compile_fail/missing_flatten.cpp: a linear layer right behind a convolution, where it would map rows of pixels.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

auto make_network() {
#ifdef MISUSE
  return nn::sequential(nn::conv2d<3, 8, 3>{}, nn::linear<8 * 26 * 26, 10>{});
#else
  return nn::sequential(nn::conv2d<3, 8, 3>{}, nn::flatten{}, nn::linear<8 * 26 * 26, 10>{});
#endif
}

void statement(const tenon::tensor<float, tenon::shape<tenon::dyn, 3, 28, 28>>& images) {
  auto net = make_network();
  net(images);
}
