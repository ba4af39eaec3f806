// tests/instructions/matmul_half.cu: products of halves are the matrix unit's, from shared memory by its own loads.
// The left operand is computed: of two in memory, Hopper's warpgroups would be fed (hopper_matmul.cu).
// has: wmma\.load\.a\.sync\.aligned\.row\.m16n16k16\.shared\.f16
// has: wmma\.load\.a\.sync\.aligned\.col\.m16n16k16\.shared\.f16
// has: wmma\.mma\.sync\.aligned\.row\.col\.m16n16k16\.f32
// has: st\.global\.v4\.[bu]32
// lacks: \.f64
// lacks: [ \t]trap
// registers: 128
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<tenon::half, tenon::rank<2>, tenon::cuda>;

void product(matrix& y, const matrix& x, const matrix& w, const matrix& b) { y = tenon::relu(tenon::matmul(x * 2, w) + b); }
