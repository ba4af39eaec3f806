// tests/instructions/hopper_float8.cu: products of floats of 8 bits on Hopper are its warpgroups'.
// architectures: 90a
// has: wgmma\.mma_async\.sync\.aligned\.m64n128k32\.f32\.e4m3\.e4m3
// has: wgmma\.mma_async\.sync\.aligned\.m64n128k32\.f32\.e5m2\.e5m2
// has: cp\.async\.bulk\.tensor\.3d\.shared::cluster\.global
// lacks: \.f64
// registers: 168
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/hopper_matrices.hpp>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

template <class T>
using matrix = tenon::tensor<T, tenon::rank<2>, tenon::cuda>;
using result = matrix<tenon::bfloat16>;

template <class T>
void multiply(result& y, const matrix<T>& x, const matrix<T>& w, const result& b) {
  const auto node = tenon::relu(tenon::matmul(x, tenon::transpose(w)) + b);
  const tenon::strided_target<tenon::bfloat16, 2> target{y.data(), y.view().strides()};
  tenon::on_device::warpgroup_tiles::run(tenon::device_problem_of<tenon::cuda>(target, node));
}
template void multiply(result&, const matrix<tenon::float8_e4m3>&, const matrix<tenon::float8_e4m3>&, const result&);
template void multiply(result&, const matrix<tenon::float8_e5m2>&, const matrix<tenon::float8_e5m2>&, const result&);
