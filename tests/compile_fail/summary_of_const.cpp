// expect: tenon: nn::summary takes a network that is not const
// tests/compile_fail/summary_of_const.cpp: a summary of a network that is not to be called.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

void statement() {
#ifdef MISUSE
  const auto net = nn::sequential(nn::linear<4, 4>{}, nn::relu{});
#else
  auto net = nn::sequential(nn::linear<4, 4>{}, nn::relu{});
#endif
  nn::summary(net, tenon::shape<8, 4>{});
}
