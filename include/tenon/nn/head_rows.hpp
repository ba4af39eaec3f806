// tenon/nn/head_rows.hpp: the rows and masks of attention as its expressions take them.
// Heads lie side by side in a row of features.
// Floor 7: may include base, core, expr, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
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

}  // namespace tenon::nn::detail
