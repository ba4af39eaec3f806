// tests/instructions/depthwise.cu: windows of single channels, in planes and side by side.
// has: ld\.global(\.nc)?\.(v4\.[bu]32|v2\.[bu]64|v4\.f32)
// has: st\.global\.v4\.[bu]32
// lacks: \.f64
// registers: 128
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/depthwise.hpp>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

using images = tenon::tensor<tenon::bfloat16, tenon::rank<4>, tenon::cuda>;

void convolution(images& y, const images& x, const images& w, const images& b) {
  const auto node = tenon::relu(tenon::convolve(x, w, {.padding = {{1, 1}}, .groups = x.extent(1)}) + b);
  const tenon::strided_target<tenon::bfloat16, 4> target{y.data(), y.view().strides()};
  tenon::on_device::depthwise_windows::run(tenon::device_problem_of<tenon::cuda>(target, node));
}
