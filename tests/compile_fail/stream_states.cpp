// expect: tenon: the states of a recurrent layer stay in its stream; read what it makes of a sample
// lines: 17: the states are read in forward, which a sample calls
// tests/compile_fail/stream_states.cpp: states of a recurrent layer of a stream, which may be named and not read.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/stream.hpp>
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

struct network : nn::module<network> {
  nn::gru<2, 4> layer;
  nn::linear<4, 1> head;
  auto forward(const auto& x) {
    const auto [sequence, hidden] = layer(x);
#ifdef MISUSE
    return head(hidden);
#else
    return head(sequence);
#endif
  }
};

void statement(network& net) { nn::stream use(net, tenon::shape<2>{}); }
