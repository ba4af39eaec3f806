// expect: tenon: a layer with parameters is called by a name that is not const; gradients are left in it
// lines: 9: the layer is called within forward
// tests/compile_fail/const_layer.cpp: a module whose forward is const, so that no layer could take a gradient.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

struct network : nn::module<network> {
  nn::linear<3, 4> layer;
#ifdef MISUSE
  auto forward(const auto& x) const { return layer(x); }
#else
  auto forward(const auto& x) { return layer(x); }
#endif
};

void statement(const tenon::tensor<float, tenon::rank<2>>& x) {
  network net;
  net(x);
}
