// tests/instructions/attention_half.cu: attention of halves in registers, operands copied in packets of 16 bytes.
// A warp keeps scores of 32 queries with 32 or 64 keys, and their sums; wider ones go by fragments.
// architectures: 80 90a
// has: mma\.sync\.aligned\.m16n8k16
// has: ex2\.approx\.ftz\.f32
// has: wmma\.mma
// has: cp\.async\.cg\.shared\.global \[[^\n]*, 16,
// lacks: \.f64
// registers: 255
// spills: 64
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/attention_select.hpp>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

using cube = tenon::tensor<tenon::half, tenon::rank<3>, tenon::cuda>;

void attend(cube& y, const cube& q, const cube& k, const cube& v) {
  const auto node = tenon::scaled_dot_product_attention(q, k, v, {.is_causal = true});
  const tenon::strided_target<tenon::half, 3> target{y.data(), y.view().strides()};
  tenon::run_attention_kernel<tenon::cuda>(target, node, node);
}
