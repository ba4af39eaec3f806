// tests/instructions/mma_int8.cu: products of bytes, which are rearranged where pairs of them were transposed.
// architectures: 80
// has: ldmatrix\.sync\.aligned\.m8n8\.x4\.shared\.b16
// has: ldmatrix\.sync\.aligned\.m8n8\.x4\.trans\.shared\.b16
// has: prmt\.b32
// has: mma\.sync\.aligned\.m16n8k32\.row\.col\.s32\.s8\.s8\.s32
// has: cp\.async\.cg\.shared\.global
// lacks: wmma
// lacks: \.f64
// registers: 255
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

using bytes = tenon::tensor<std::int8_t, tenon::rank<2>, tenon::cuda>;

void product(bytes& y, const bytes& x, const bytes& w) { y = tenon::matmul(x, w); }
