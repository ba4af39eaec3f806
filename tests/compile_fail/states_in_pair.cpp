// expect: tenon: a layer takes its operands one by one, such as lstm(x, hidden, cell)
// lines: 6: g++ names the header of layers before
// tests/compile_fail/states_in_pair.cpp: the states of an lstm in a pair, as PyTorch has them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>
#include <utility>

namespace nn = tenon::nn;

nn::lstm<3, 4> lstm;

void statement(const tenon::tensor<float, tenon::rank<3>>& x, const tenon::tensor<float, tenon::rank<3>>& state) {
#ifdef MISUSE
  lstm(x, std::pair(state, state));
#else
  lstm(x, state, state);
#endif
}
