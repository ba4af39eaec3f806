// expect: tenon: fuse takes layers that are one expression of their input
// tests/compile_fail/fuse_layer.cpp: a layer whose steps are statements of their own, in a network for use alone.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/embedding.hpp>
#include <tenon/nn/inference.hpp>
#include <tenon/nn/linear.hpp>

namespace nn = tenon::nn;

void fuse_network() {
#ifdef MISUSE
  const auto net = nn::sequential(nn::embedding<10, 4>{}, nn::linear<4, 2>{});
#else
  const auto net = nn::sequential(nn::linear<4, 2>{});
#endif
  nn::fuse(net);
}
