// expect: tenon: a loss_scaler has the space of its network
// tests/compile_fail/loss_scaler_space.cpp: a scale in memory of the host, for a network elsewhere.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train.hpp>

namespace nn = tenon::nn;

void statement() {
  auto net = nn::sequential(nn::linear<3, 4>{}).to<tenon::emulated>();
  tenon::train::sgd<tenon::emulated> optimizer(net, {.lr = 1e-3});
#ifdef MISUSE
  tenon::train::loss_scaler<> scaler;
#else
  tenon::train::loss_scaler<tenon::emulated> scaler;
#endif
  scaler.step(optimizer, net);
}
