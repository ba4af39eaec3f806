// expect: tenon: nn::inference and nn::summary run a network before there are values, and this algorithm reads them
// lines: 17: compilers tell first of all that leads to the algorithm within forward
// tests/compile_fail/inference_sorts.cpp: a network in use that takes the greatest of its scores.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

struct network : nn::module<network> {
  nn::linear<4, 6> layer;
  auto forward(const auto& x) {
    const tenon::traced scores = layer(x);
#ifdef MISUSE
    return tenon::traced(tenon::topk(scores, 2, tenon::axis<1>).values);
#else
    return tenon::traced(tenon::max(scores, tenon::axis<1>));
#endif
  }
};

void statement(network& net) { nn::inference use(net, tenon::rank<2>(3, 4)); }
