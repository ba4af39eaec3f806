// expect: tenon: nn::summary takes a sequential of layers alone: what a module makes hangs on its forward
// tests/compile_fail/summary_of_module.cpp: a summary of a network with a module, whose output no type tells.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

struct block : nn::module<block> {
  nn::linear<4, 4> inner;
  auto forward(const auto& x) { return x + inner(x); }
};

void statement() {
#ifdef MISUSE
  auto net = nn::sequential(nn::linear<4, 4>{}, block{});
#else
  auto net = nn::sequential(nn::linear<4, 4>{}, nn::relu{});
#endif
  nn::summary(net, tenon::shape<8, 4>{});
}
