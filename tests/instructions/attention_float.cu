// tests/instructions/attention_float.cu: attention of floats, by threads, operands copied in packets of 16 bytes.
// Tiles of 64 queries and 64 keys leave 32 sums in the registers of each thread.
// architectures: 80 90a
// has: fma\.rn\.f32
// has: cp\.async\.cg\.shared\.global \[[^\n]*, 16,
// lacks: \.f64
// registers: 168
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/attention_select.hpp>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

using cube = tenon::tensor<float, tenon::rank<3>, tenon::cuda>;

void attend(cube& y, const cube& q, const cube& k, const cube& v) {
  const auto node = tenon::scaled_dot_product_attention(q, k, v, {.is_causal = true});
  const tenon::strided_target<float, 3> target{y.data(), y.view().strides()};
  tenon::run_attention_kernel<tenon::cuda>(target, node, node);
}
