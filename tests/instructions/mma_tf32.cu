// tests/instructions/mma_tf32.cu: products of floats, rounded to tf32, that lanes transpose as they read.
// architectures: 80
// has: ldmatrix\.sync\.aligned\.m8n8\.x4\.shared\.b16
// has: cvt\.rna\.tf32\.f32
// has: ld\.shared\.v2\.[bfu]32
// has: mma\.sync\.aligned\.m16n8k8\.row\.col\.f32\.tf32\.tf32\.f32
// has: cp\.async\.cg\.shared\.global
// lacks: wmma
// lacks: \.f64
// registers: 255
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

using matrix = tenon::tensor<float, tenon::rank<2>, tenon::cuda>;

void product(matrix& y, const matrix& x, const matrix& w, const matrix& b) {
  y = tenon::relu(tenon::matmul<tenon::precision::tf32>(x, w) + b);
}
