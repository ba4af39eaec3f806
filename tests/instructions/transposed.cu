// tests/instructions/transposed.cu: operands across the destination, by way of tiles in shared memory.
// has: ld\.global\.v4\.[bf]32
// has: st\.global\.v4\.[bf]32
// has: st\.shared\.[bf]32
// has: ld\.shared\.[bf]32
// lacks: \.f64
// lacks: [ \t](div|rem)\.
// registers: 64
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<float, tenon::rank<2>, tenon::cuda>;
using images = tenon::tensor<tenon::half, tenon::rank<4>, tenon::cuda>;

void copy(matrix& y, const matrix& x) { y = tenon::transpose(x); }
void add(matrix& y, const matrix& x, const matrix& z) { y = tenon::transpose(x) * 2 + z; }
void channels_last(images& y, const images& x) { y = tenon::permute(x, tenon::axis<0, 2, 3, 1>); }
void twice(matrix& y, const matrix& x, const matrix& z) {
  const auto a = tenon::transpose(x), b = tenon::transpose(z);
  y.noalias() = (a * b + b) * 0.5f - a / (1 + b * b);
}
