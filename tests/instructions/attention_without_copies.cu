// tests/instructions/attention_without_copies.cu: attention of halves before sm_80, by fragments.
// There are no asynchronous copies, and scores and sums go through shared memory.
// architectures: 75
// has: wmma\.mma
// lacks: cp\.async
// lacks: \.f64
// registers: 255
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
