// expect: tenon: nn::inference takes no packed sequences; call the network itself, under no_grad
// lines: 13: sequences are packed in forward, which a run of the network calls
// tests/compile_fail/inference_packed.cpp: a network in use that packs its sequences.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

struct network : nn::module<network> {
  nn::gru<4, 4> gru;
  auto forward(const auto& x) {
#ifdef MISUSE
    return gru(nn::pack_padded_sequence(x, {3, 2})).hidden;
#else
    return gru(x).hidden;
#endif
  }
};

void statement(network& net) { nn::inference use(net, tenon::rank<3>(3, 2, 4)); }
