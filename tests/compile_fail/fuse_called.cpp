// expect: tenon: a fused network runs in nn::inference; make one of it
// tests/compile_fail/fuse_called.cpp: a fused network that is called with a tensor.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/fuse.hpp>
#include <tenon/nn/inference.hpp>
#include <tenon/nn/linear.hpp>

namespace nn = tenon::nn;

void call_network(const tenon::tensor<float, tenon::shape<8, 4>>& x) {
  const auto net = nn::fuse(nn::sequential(nn::linear<4, 2>{}));
#ifdef MISUSE
  const auto y = net(x);
#else
  const auto y = nn::inference(net, x).run(x);
#endif
}
