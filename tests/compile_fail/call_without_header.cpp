// expect: tenon: to call a layer like a function include <tenon/tenon.hpp>
// lines: 6: a header of one layer stands below others
// tests/compile_fail/call_without_header.cpp: a layer's own header brings no gradients of calls.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/linear.hpp>
#ifndef MISUSE
#include <tenon/tenon.hpp>
#endif

void statement(const tenon::tensor<float, tenon::rank<2>>& x) {
  tenon::nn::linear<3, 4> layer;
  layer(x);
}
