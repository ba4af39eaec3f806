// tests/instructions/matmul_half.cu: fragments of halves, where lanes cannot load blocks.
// The left operand is computed: for two in memory there is a stub of the kernel of Hopper, which traps.
// architectures: 75
// has: wmma\.load\.a\.sync\.aligned\.row\.m16n16k16\.shared\.f16
// has: wmma\.load\.a\.sync\.aligned\.col\.m16n16k16\.shared\.f16
// has: wmma\.mma\.sync\.aligned\.row\.col\.m16n16k16\.f32
// has: st\.global\.v4\.[bu]32
// lacks: \.f64
// lacks: [ \t]trap
// registers: 255
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

using matrix = tenon::tensor<tenon::half, tenon::rank<2>, tenon::cuda>;

void product(matrix& y, const matrix& x, const matrix& w, const matrix& b) {
  y = tenon::relu(tenon::matmul(x * 2, w) + b);
}
