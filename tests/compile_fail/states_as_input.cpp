// expect: tenon: a recurrent layer makes a sequence and states; say which this layer reads
// tests/compile_fail/states_as_input.cpp: all values of a recurrent layer as the input of the next layer.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

nn::lstm<3, 4> lstm;
nn::linear<4, 2> head;

void statement(const tenon::tensor<float, tenon::rank<3>>& x) {
#ifdef MISUSE
  head(lstm(x));
#else
  head(lstm(x).sequence);
#endif
}
