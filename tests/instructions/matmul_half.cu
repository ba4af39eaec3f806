// tests/instructions/matmul_half.cu: products of halves are the matrix unit's, from shared memory by its own loads.
// has: wmma\.load\.a\.sync\.aligned\.(row|col)\.m16n16k16\.shared\.f16
// has: wmma\.mma\.sync\.aligned
// lacks: \.f64
// registers: 168
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<tenon::half, tenon::rank<2>, tenon::cuda>;

void product(matrix& y, const matrix& x, const matrix& w, const matrix& b) {
  y = tenon::relu(tenon::matmul(x, w) + b);
}
