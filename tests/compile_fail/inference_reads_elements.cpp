// expect: tenon: nn::inference runs a network whose forward reads no elements
// lines: 17: g++ tells first of all that leads to the number within forward
// tests/compile_fail/inference_reads_elements.cpp: a network in use whose loop hangs on elements.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

struct network : nn::module<network> {
  nn::linear<4, 4> layer;
  auto forward(const auto& x) {
    tenon::traced h = layer(x);
#ifdef MISUSE
    while (static_cast<float>(tenon::max(tenon::abs(h))) > 1) h = tenon::tanh(layer(h));
#else
    for (int turn = 0; turn < 3; ++turn) h = tenon::tanh(layer(h));
#endif
    return h;
  }
};

void statement(network& net) { nn::inference use(net, tenon::rank<2>(3, 4)); }
