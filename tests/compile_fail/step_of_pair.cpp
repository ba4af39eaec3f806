// expect: tenon: the function of a step returns the loss alone, an expression without axes
// lines: 9: g++ says first by which headers it came
// tests/compile_fail/step_of_pair.cpp: a function that returns scores beside the loss.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train.hpp>

namespace nn = tenon::nn;

void statement(nn::linear<8, 1>& net, tenon::train::sgd<>& optimizer, const tenon::tensor<float, tenon::rank<2>>& x) {
  optimizer.step([&] {
    tenon::traced scores = net(x);
    tenon::traced loss = tenon::mean(scores);
#ifdef MISUSE
    return std::pair{loss, scores};
#else
    return loss;
#endif
  });
}
