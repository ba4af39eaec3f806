// tests/instructions/matmul_bfloat16.cu: products of bfloat16, by way of asynchronous copies.
// The left operand is computed: of two in memory, Hopper's warpgroups would be fed (hopper_matmul.cu).
// architectures: 80 90a 120
// has: wmma\.load\.a\.sync\.aligned\.row\.m16n16k16\.shared\.bf16
// has: wmma\.load\.a\.sync\.aligned\.col\.m16n16k16\.shared\.bf16
// has: wmma\.mma\.sync\.aligned\.row\.col\.m16n16k16\.f32
// has: cp\.async\.cg\.shared\.global \[[^\n]*, 16,
// lacks: \.f64
// registers: 128
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<tenon::bfloat16, tenon::rank<2>, tenon::cuda>;

void product(matrix& y, const matrix& x, const matrix& w, const matrix& b) { y = tenon::relu(tenon::matmul(x * 2, w) + b); }
