// expect: tenon: nn::summary takes a network and the shapes of its inputs, nn::summary(net, shape<8, 784>{})
// tests/compile_fail/summary_of_numbers.cpp: a summary for extents that are no shape.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

void statement() {
  auto net = nn::sequential(nn::linear<4, 4>{}, nn::relu{});
#ifdef MISUSE
  nn::summary(net, 8, 4);
#else
  nn::summary(net, tenon::shape<8, 4>{});
#endif
}
