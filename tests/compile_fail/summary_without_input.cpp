// expect: tenon: nn::summary takes a sequential and the shape of its input, nn::summary(net, shape<8, 784>{})
// tests/compile_fail/summary_without_input.cpp: a summary of a network alone.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

void statement() {
  auto net = nn::sequential(nn::linear<4, 4>{}, nn::relu{});
#ifdef MISUSE
  nn::summary(net);
#else
  nn::summary(net, tenon::shape<8, 4>{});
#endif
}
