// tests/instructions/matmul_int8.cu: products of bytes, kept as 32 bits, where lanes cannot load blocks.
// architectures: 75
// has: wmma\.load\.a\.sync\.aligned\.row\.m16n16k16\.shared\.s8
// has: wmma\.load\.a\.sync\.aligned\.col\.m16n16k16\.shared\.s8
// has: wmma\.mma\.sync\.aligned\.row\.col\.m16n16k16\.s32
// lacks: \.f64
// lacks: [ \t]trap
// registers: 255
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

using bytes = tenon::tensor<std::int8_t, tenon::rank<2>, tenon::cuda>;

void product(tenon::tensor<int, tenon::rank<2>, tenon::cuda>& y, const bytes& x, const bytes& w) {
  y = tenon::matmul(tenon::cast<int>(x), tenon::cast<int>(w));
}
