// expect: tenon: labels of classes are integers
// tests/compile_fail/labels_of_floats.cpp: labels of classes that are floats.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/probability_loss.hpp>

#ifdef MISUSE
using label = float;
#else
using label = int;
#endif

auto statement(const tenon::tensor<float, tenon::rank<2>>& scores, const tenon::tensor<label, tenon::rank<1>>& labels) {
  return tenon::nn::cross_entropy_loss(scores, labels);
}
