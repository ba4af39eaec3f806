// expect: tenon: this layer does not stream: nn::stream takes linear, recurrent and conv1d layers
// lines: 17: the layer is called in forward, which a sample calls
// tests/compile_fail/stream_of_pool.cpp: a pool over time, which would need samples to come.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/stream.hpp>
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

struct network : nn::module<network> {
  nn::conv1d<1, 4, 3> layer;
  nn::max_pool1d<2> pool;
  auto forward(const auto& x) {
#ifdef MISUSE
    return pool(layer(x));
#else
    return tenon::relu(layer(x));
#endif
  }
};

void statement(network& net) { nn::stream use(net, tenon::shape<1>{}); }
