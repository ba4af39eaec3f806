// tenon/nn/head_rows.hpp: the rows and masks of attention as its expressions take them, and the memory of a call.
// Heads lie side by side in a row of features.
// Floor 7: may include base, core, expr, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <tenon/core/buffer.hpp>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>

namespace tenon::nn::detail {

/// Rows of features, all heads side by side, with the steps to the next position and the next batch.
template <class T>
struct head_rows {
  T* data;
  index batches, length, batch_step, step;

  /// [batch, head, position, feature].
  template <memory_space Space>
  view<T, rank<4>, Space> heads(index count, index features) const {
    return {data, rank<4>(batches, count, length, features), {{batch_step, features, step, 1}}};
  }
};

/// What a mask adds to scores that stay out where it is true.
template <class Mask>
auto bias_of_blocks(const Mask& mask) {
  if constexpr (std::is_same_v<typename Mask::element, bool>) {
    return where(mask, -std::numeric_limits<float>::infinity(), 0.0f);
  } else {
    return mask;
  }
}

/// What the gradients of a call of attention need: projections, what was attended to, and which dropout was drawn.
template <dtype T, index Embed, memory_space Space>
struct attention_memory {
  array<buffer<T, rank<3>, Space>, 3> projected, gradients;
  array<head_rows<T>, 3> parts{};
  buffer<T, shape<dyn, dyn, Embed>, Space> attended, attended_gradient;
  random_seed mask;  // of what dropout leaves out
};

}  // namespace tenon::nn::detail
