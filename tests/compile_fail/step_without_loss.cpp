// expect: tenon: the function of a step returns the loss
// lines: 8: g++ says first by which headers it came
// tests/compile_fail/step_without_loss.cpp: a function that goes back by itself and returns nothing.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train.hpp>

namespace nn = tenon::nn;

void statement(nn::linear<8, 1>& net, tenon::train::sgd<>& optimizer, const tenon::tensor<float, tenon::rank<2>>& x) {
  optimizer.step([&] {
    tenon::traced loss = tenon::mean(net(x));
#ifdef MISUSE
    loss.backward();
#else
    return loss;
#endif
  });
}
