// tests/instructions/vector_product.cu: products of a matrix with one vector and with a few, in packets of 16 bytes.
// Of blocks of 256 threads, one fits a multiprocessor from 129 registers on; single elements on sm_120 take 162.
// has: ld\.global(\.nc)?\.(v4\.[bu]32|v2\.[bu]64|v4\.f32)
// lacks: \.f64
// registers: 168
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/vector_product.hpp>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

using matrix = tenon::tensor<tenon::bfloat16, tenon::rank<2>, tenon::cuda>;

void product(matrix& y, const matrix& x, const matrix& w, const matrix& b) {
  const auto node = tenon::relu(tenon::matmul(x, w) + b);
  const tenon::strided_target<tenon::bfloat16, 2> target{y.data(), y.view().strides()};
  tenon::on_device::few_vectors::run(tenon::device_problem_of<tenon::cuda>(target, node));
}
