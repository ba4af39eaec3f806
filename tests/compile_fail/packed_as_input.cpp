// expect: tenon: of a packed sequence this layer takes the rows, such as head(packed.rows)
// lines: 6: g++ names the header of layers before
// tests/compile_fail/packed_as_input.cpp: a packed sequence as the input of a layer of single rows.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

nn::gru<3, 4> gru;
nn::linear<4, 2> head;

void statement(const tenon::tensor<float, tenon::rank<3>>& x) {
  const auto packed = gru(nn::pack_padded_sequence(x, {2, 1})).sequence;
#ifdef MISUSE
  head(packed);
#else
  head(packed.rows);
#endif
}
