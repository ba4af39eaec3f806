// expect: tenon: a conv1d of a stream has no padding, stride 1 and one group
// lines: 17: the layer is called in forward, which a sample calls
// tests/compile_fail/stream_padding.cpp: a convolution that looks ahead, in a stream.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/stream.hpp>
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

struct network : nn::module<network> {
#ifdef MISUSE
  nn::conv1d<1, 4, 3, nn::conv1d_options{.padding = 1}> layer;
#else
  nn::conv1d<1, 4, 3> layer;
#endif
  auto forward(const auto& x) { return layer(x); }
};

void statement(network& net) { nn::stream use(net, tenon::shape<1>{}); }
