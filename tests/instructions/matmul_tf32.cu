// tests/instructions/matmul_tf32.cu: products of floats on matrix units, where that is asked for.
// architectures: 80 90a 120
// has: wmma\.load\.a\.sync\.aligned\.row\.m16n16k8\.shared\.tf32
// has: wmma\.load\.a\.sync\.aligned\.col\.m16n16k8\.shared\.tf32
// has: wmma\.mma\.sync\.aligned\.row\.col\.m16n16k8\.f32
// has: cp\.async\.cg\.shared\.global \[[^\n]*, 16,
// lacks: \.f64
// registers: 128
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<float, tenon::rank<2>, tenon::cuda>;

void product(matrix& y, const matrix& x, const matrix& w, const matrix& b) {
  y = tenon::relu(tenon::matmul<tenon::precision::tf32>(x, w) + b);
}
