// expect: tenon: a network computes in the type of its parameters: of half, net(cast<half>(x)), or net.to<float>()
// lines: 20: a call is run several calls below
// tests/compile_fail/network_of_other_elements.cpp: doubles for a network of floats.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

auto statement(nn::linear<3, 4>& layer, const tenon::tensor<double, tenon::rank<2>>& x) {
#ifdef MISUSE
  return layer(x).value();
#else
  return layer(tenon::cast<float>(x)).value();
#endif
}
