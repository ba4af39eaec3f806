// expect: tenon: a traced value keeps its rank and static extents when it is assigned
// lines: 8: g++ says first by which headers it came
// tests/compile_fail/traced_of_another_shape.cpp: a name that goes from layer to layer, as in a forward of PyTorch.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

auto statement(nn::linear<8, 16>& first, nn::linear<16, 4>& second, const tenon::tensor<float, tenon::rank<2>>& x) {
  tenon::traced h = tenon::relu(first(x));
#ifdef MISUSE
  h = second(h);
  return h;
#else
  tenon::traced y = second(h);
  return y;
#endif
}
