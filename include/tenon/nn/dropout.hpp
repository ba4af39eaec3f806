// tenon/nn/dropout.hpp: layers that leave out elements, or whole channels, at random in training.
// The mask is a function of a seed and the position, so the backward pass draws it again and nothing is stored.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/grad/pass_numbers.hpp>
#include <tenon/nn/expression_layer.hpp>

namespace tenon::nn {

/// Sets elements to 0 with a probability in training and divides the others by what is left of it; `Axes` leading axes
/// have a mask of their own, the others follow (0: every element has its own). Outside training it does nothing.
/// With `KeepsMoments` elements become the least value of selu instead, and all are scaled and shifted so that mean 0
/// and variance 1 stay.
/// throws    error when the probability is outside [0, 1]
/// source    Srivastava and others 2014: Dropout; Klambauer and others 2017: Self-normalizing neural networks
template <int Axes, bool KeepsMoments = false>
struct masked_dropout : stateless, expression_layer<masked_dropout<Axes, KeepsMoments>> {
  static constexpr const char* name = KeepsMoments ? "alpha_dropout" : "dropout";
  double probability = 0.5;
  std::uint64_t seed = 0;  // of the layer
  std::uint64_t step = 0;  // masks drawn so far
  bool is_training = true;

  masked_dropout() = default;
  explicit masked_dropout(double dropped, std::uint64_t first_seed = 0) : probability(dropped), seed(first_seed) {
    if (!(dropped >= 0 && dropped <= 1)) {
      throw error(compose_text(name, ": probability ", dropped, ", expected within [0, 1]"));
    }
  }

  /// Layers of a network draw masks of their own.
  void initialise(std::uint64_t layer_seed) { seed = layer_seed, step = 0; }

  template <class Visitor>
  void visit_random_state(Visitor&& visitor) {
    visitor("seed", seed), visitor("step", step);
  }

  template <shape_type Input>
  static constexpr Input output_shape(const Input& input) {
    return input;
  }
  /// The next mask.
  template <class Input>
  void prepare(const Input&) {
    if (!is_training) return;
    const std::uint64_t number = tenon::detail::next_pass(step) + 1;  // seeds of layers lie far from each other
    mask_ = detail::seed_of_pass<typename node_of<const Input&>::space>(seed * 0x9E3779B97F4A7C15u + number);
  }
  std::uint64_t forward_count() const { return step; }
  void undo_forward(std::uint64_t count) { tenon::detail::take_back_passes(step, count); }
  template <class Input>
  auto expression(const Input& x) const {
    const double kept = is_training ? 1 - probability : 1;
    const auto mask = bernoulli<bool>(mask_shape(x.shape()), mask_, kept);
    if constexpr (KeepsMoments) {
      constexpr double least = -1.7580993408473766;  // of selu
      const double dropped = 1 - kept, scale = kept > 0 ? 1 / std::sqrt((least * least * dropped + 1) * kept) : 0.0;
      return where(mask, x * scale, least * scale) - least * scale * dropped;
    } else {
      return where(mask, x * (kept > 0 ? 1 / kept : 0.0), 0);
    }
  }

 private:
  template <class Shape>
  static auto mask_shape(const Shape& input) {
    if constexpr (Axes == 0) {
      return input;
    } else {
      return [&]<int... I>(std::integer_sequence<int, I...>) {
        return shape<(I < Axes ? Shape::static_extent(I) : 1)...>(
            array<index, Shape::rank>{{(I < Axes ? input.extent(I) : index{1})...}});
      }(std::make_integer_sequence<int, Shape::rank>{});
    }
  }

  random_seed mask_;  // of the one in use
};

using dropout = masked_dropout<0>;                      ///< Zeroes elements of [...], each by itself.
using dropout1d = masked_dropout<2>;                    ///< Zeroes whole channels of [batch, channels, ...].
using dropout2d = masked_dropout<2>;                    ///< Zeroes whole channels of [batch, channels, ...].
using dropout3d = masked_dropout<2>;                    ///< Zeroes whole channels of [batch, channels, ...].
using alpha_dropout = masked_dropout<0, true>;          ///< Drops elements of [...]; mean and variance stay.
using feature_alpha_dropout = masked_dropout<2, true>;  ///< Drops whole channels; mean and variance stay.

}  // namespace tenon::nn
