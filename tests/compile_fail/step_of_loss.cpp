// expect: tenon: a step comes behind backward(loss), or computes the loss, step([&] { return loss_of(x); })
// lines: 6: each optimizer includes the header that asserts it
// tests/compile_fail/step_of_loss.cpp: a loss in the place of a function that computes it.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train.hpp>

namespace nn = tenon::nn;

void statement(nn::linear<3, 4>& layer, const tenon::tensor<float, tenon::rank<2>>& x) {
  tenon::train::sgd<> optimizer(layer, {.lr = 1e-3});
#ifdef MISUSE
  optimizer.step(tenon::mean(layer(x)));
#else
  optimizer.step([&] { return tenon::mean(layer(x)); });
#endif
}
