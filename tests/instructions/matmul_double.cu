// tests/instructions/matmul_double.cu: products of doubles on matrix units.
// architectures: 80 90a
// has: wmma\.load\.a\.sync\.aligned\.row\.m8n8k4\.shared\.f64
// has: wmma\.load\.a\.sync\.aligned\.col\.m8n8k4\.shared\.f64
// has: wmma\.mma\.sync\.aligned\.row\.col\.m8n8k4\.f64
// has: cp\.async\.cg\.shared\.global \[[^\n]*, 16,
// registers: 168
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

using matrix = tenon::tensor<double, tenon::rank<2>, tenon::cuda>;

void product(matrix& y, const matrix& x, const matrix& w, const matrix& b) { y = tenon::relu(tenon::matmul(x, w) + b); }
