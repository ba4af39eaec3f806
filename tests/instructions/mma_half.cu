// tests/instructions/mma_half.cu: products of halves in registers, loaded as they lie or transposed.
// architectures: 90a 120
// has: ldmatrix\.sync\.aligned\.m8n8\.x4\.shared\.b16
// has: ldmatrix\.sync\.aligned\.m8n8\.x4\.trans\.shared\.b16
// has: mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.f16\.f16\.f32
// has: cp\.async\.cg\.shared\.global
// lacks: wmma
// lacks: \.f64
// registers: 255
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

using matrix = tenon::tensor<tenon::half, tenon::rank<2>, tenon::cuda>;

void product(matrix& y, const matrix& x, const matrix& w, const matrix& b) { y = tenon::relu(tenon::matmul(x, w) + b); }
