// tests/instructions/matmul_float.cu: products of floats by threads that read four neighbours of shared memory at once.
// architectures: 80 90a
// has: ld\.shared\.v4\.[bfu]32
// has: fma\.rn\.f32
// has: cp\.async\.cg\.shared\.global \[[^\n]*, 16,
// lacks: [ \t]wmma
// lacks: \.f64
// registers: 255
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

using matrix = tenon::tensor<float, tenon::rank<2>, tenon::cuda>;

void product(matrix& y, const matrix& x, const matrix& w, const matrix& b) { y = tenon::relu(tenon::matmul(x, w) + b); }
