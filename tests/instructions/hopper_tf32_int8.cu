// tests/instructions/hopper_tf32_int8.cu: products of tf32 and of bytes on Hopper are its warpgroups'.
// Operands whose lines lie side by side are copied first.
// architectures: 90a
// has: wgmma\.mma_async\.sync\.aligned\.m64n128k8\.f32\.tf32\.tf32
// has: wgmma\.mma_async\.sync\.aligned\.m64n256k8\.f32\.tf32\.tf32
// has: wgmma\.mma_async\.sync\.aligned\.m64n256k32\.s32\.s8\.s8
// has: cp\.async\.bulk\.tensor\.3d\.shared::cluster\.global
// lacks: \.f64
// registers: 168
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/hopper_matrices.hpp>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

template <class T>
using matrix = tenon::tensor<T, tenon::rank<2>, tenon::cuda>;

template <class T, class Statement>
void run(matrix<T>& y, const Statement& statement) {
  const tenon::strided_target<T, 2> target{y.data(), y.view().strides()};
  tenon::on_device::warpgroup_tiles::run(tenon::device_problem_of<tenon::cuda>(target, statement));
}

void floats(matrix<float>& y, const matrix<float>& x, const matrix<float>& w, const matrix<float>& b) {
  run(y, tenon::relu(tenon::matmul<tenon::precision::tf32>(x, w) + b));
}
void bytes(matrix<float>& y, const matrix<std::int8_t>& x, const matrix<std::int8_t>& w, const matrix<float>& b) {
  run(y, tenon::cast<float>(tenon::matmul(tenon::cast<int>(x), tenon::cast<int>(w))) * 0.5f + b);
}
