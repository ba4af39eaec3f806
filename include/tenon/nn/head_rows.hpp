// tenon/nn/head_rows.hpp: options of attention, rows and masks as its expressions take them, the memory of a call.
// Heads lie side by side in a row of features.
// Floor 7: may include base, core, expr, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <limits>
#include <tenon/core/buffer.hpp>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>
#include <vector>

namespace tenon::nn {

/// Options of multihead_attention, with PyTorch's names and defaults where it has them.
struct multihead_attention_options {
  double dropout = 0;  // probability with which a weight is left out, in training
  bool bias = true;
  bool batch_first = false;  // inputs are [batch, length, features], not [length, batch, features]
  bool kdim_vdim = false;    // keys and values have features of their own, and a weight each
  bool is_causal = false;    // queries see the keys up to their own position; also a member of the layer
};

/// In place of a mask: every query sees every key.
inline constexpr float no_mask = 0;

namespace detail {

/// Options as template arguments; dropout by its bits, as not every compiler takes a double there.
template <std::uint64_t DropoutBits, bool Bias, bool BatchFirst, bool KdimVdim, bool IsCausal>
struct attention_settings {
  static constexpr multihead_attention_options value{std::bit_cast<double>(DropoutBits), Bias, BatchFirst, KdimVdim,
                                                     IsCausal};
};
template <multihead_attention_options Options>
using attention_settings_of = attention_settings<std::bit_cast<std::uint64_t>(Options.dropout), Options.bias,
                                                 Options.batch_first, Options.kdim_vdim, Options.is_causal>;

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

/// Writes the gradient of a mask that repeated over exponents [batch, head, query, key]: theirs, summed over the axes
/// which the mask lacks, or of which it has 1, whether types know that or the run alone.
template <class Exponents, class Mask>
void write_mask_gradient(const Exponents& of_exponents, const Mask& to_mask) {
  constexpr int missing = Exponents::rank - Mask::rank;
  static_assert(missing >= 0, "tenon: a mask of multihead_attention repeats over [batch, head, query, key]");
  auto extents = filled_array<Exponents::rank>(index{1});
  array<index, Exponents::rank> strides{};
  std::vector<int> repeated;
  for (int axis = 0; axis < Exponents::rank; ++axis) {
    const int own = axis - missing;
    if (own >= 0) extents[axis] = to_mask.extent(own), strides[axis] = to_mask.strides()[own];
    if (extents[axis] == 1) repeated.push_back(axis);
  }
  using whole_shape = rank<Exponents::rank>;
  const view<typename Mask::element, whole_shape, typename Mask::space> whole(to_mask.data(), whole_shape(extents),
                                                                              strides);
  whole = sum(of_exponents, axes(repeated));
}

/// Gradients of queries, keys and values, written for all batches. Where there was one batch for several, theirs add
/// up.
template <class T, memory_space Space>
class batch_gradients {
 public:
  using heads_view = view<T, rank<4>, Space>;

  batch_gradients(const array<heads_view, 3>& to, index batches)
      : to_(to), of{{place(0, batches), place(1, batches), place(2, batches)}} {}

  void sum_up() const {
    for (int part = 0; part < 3; ++part) {
      if (of[part].shape() != to_[part].shape()) to_[part] = sum(of[part], axis<0>);
    }
  }

 private:
  heads_view place(int part, index batches) {
    auto extents = to_[part].shape().to_array();
    if (extents[0] == batches) return to_[part];
    extents[0] = batches;
    apart_[part] = tensor<T, rank<4>, Space>(rank<4>(extents));
    return apart_[part].write_view();
  }

  array<heads_view, 3> to_;
  array<tensor<T, rank<4>, Space>, 3> apart_;

 public:
  array<heads_view, 3> of;  // where to write them
};

/// What the gradients of a call of attention need: projections, what was attended to, and which dropout was drawn.
template <dtype T, index Embed, memory_space Space>
struct attention_memory {
  array<buffer<T, rank<3>, Space>, 3> projected, gradients;
  array<head_rows<T>, 3> parts{};
  buffer<T, shape<dyn, dyn, Embed>, Space> attended, attended_gradient;
  random_seed mask;  // of what dropout leaves out
};

}  // namespace detail

}  // namespace tenon::nn
