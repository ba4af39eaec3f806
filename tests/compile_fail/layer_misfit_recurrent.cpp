// expect: tenon: this layer does not fit its input; the extents must be equal
// expect: input_has<32
// expect: layer_takes<64
// lines: 11: the call of the layer and what it checks stand in between
// tests/compile_fail/layer_misfit_recurrent.cpp: sequences with other features than an LSTM takes.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/lstm.hpp>

#ifdef MISUSE
constexpr tenon::index features = 32;
#else
constexpr tenon::index features = 64;
#endif

void statement(const tenon::tensor<float, tenon::shape<tenon::dyn, tenon::dyn, features>>& x) {
  tenon::nn::lstm<64, 128> layer;
  layer.forward(x);
}
