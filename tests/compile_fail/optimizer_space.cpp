// expect: tenon: an optimizer has the space and elements of its network
// lines: 9: the constructor calls a function of another header, which asserts it
// tests/compile_fail/optimizer_space.cpp: an optimizer of the host for a network elsewhere.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train.hpp>

namespace nn = tenon::nn;

void statement() {
  auto net = nn::sequential(nn::linear<3, 4>{}).to<tenon::emulated>();
#ifdef MISUSE
  tenon::train::adam<> optimizer(net, {.lr = 1e-3});
#else
  tenon::train::adam<tenon::emulated> optimizer(net, {.lr = 1e-3});
#endif
}
