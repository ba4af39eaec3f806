// tenon/nn/combinators.hpp: layers made of layers: what skips a block, and branches whose channels lie side by side.
// They stand within `sequential`, and their layers within them; the pass keeps the activations between those.
// Floor 7: may include base, core, expr, evaluate, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/concatenate.hpp>
#include <tenon/nn/sequential.hpp>

namespace tenon::nn {

/// x + layers(x).
/// extents   those of x, which the layers must keep
/// throws    shape_error when they do not
template <class... Layers>
struct residual_block : layer_list<Layers...> {
  static constexpr const char* name = "residual";

  template <space_or_element To>
  auto to() const {
    return this->template all_moved<To, tenon::nn::residual_block>();
  }
  template <shape_type Input>
    requires(detail::tells_shape<Layers> && ...)
  constexpr Input output_shape(const Input& input) const {
    const auto changed =
        apply_tuple([&](const auto&... layer) { return detail::shape_through(input, layer...); }, this->layers);
    static_assert(decltype(changed)::rank == Input::rank, "tenon: the layers of a residual keep their input's axes");
    if (changed.to_array() != input.to_array()) {
      throw shape_error(compose_text("residual: the layers make ", changed.to_array(), " of ", input.to_array(),
                                     ", expected the same extents"));
    }
    return input;
  }
  template <tensor_operand Operand>
  auto operator()(Operand&& operand) {
    const auto& input = detail::settled_input(std::forward<Operand>(operand));
    return attempt_forward(*this, [&] { return detail::settled(input + detail::call_all(input, this->layers)); });
  }
};

/// Layers one after another, and their input added to what comes out.
/// example   nn::residual(nn::conv2d<8, 8, 3, same>{}, nn::relu{}, nn::conv2d<8, 8, 3, same>{})
/// source    He, Zhang, Ren, Sun 2015: Deep residual learning for image recognition
template <class... Layers>
residual_block<Layers...> residual(Layers... layers) {
  residual_block<Layers...> result{{make_tuple_of(std::move(layers)...)}};
  result.is_as_made = result.initialise_unwritten(0);
  return result;
}

namespace detail {

/// The extents of images whose channels lie behind each other.
template <class First>
constexpr auto with_channels_of(const First& first) {
  return first;
}
template <class First, class Second, class... Rest>
constexpr auto with_channels_of(const First& first, const Second& second, const Rest&... rest) {
  constexpr index left = First::static_extent(1), right = Second::static_extent(1);
  constexpr index known = left == dyn || right == dyn ? dyn : left + right;
  return with_channels_of(with_extent<1, known>(first, first.extent(1) + second.extent(1)), rest...);
}

}  // namespace detail

/// The outputs of several layers for one input, as one: their channels (axis 1) lie behind each other.
/// extents   those of the outputs, which differ in channels alone; the channels added
template <class... Branches>
struct branching_layer : layer_list<Branches...> {
  static constexpr const char* name = "branches";

  template <space_or_element To>
  auto to() const {
    return this->template all_moved<To, tenon::nn::branching_layer>();
  }
  template <shape_type Input>
    requires(detail::tells_shape<Branches> && ...)
  constexpr auto output_shape(const Input& input) const {
    return apply_tuple([&](const auto&... branch) { return detail::with_channels_of(branch.output_shape(input)...); },
                       this->layers);
  }
  template <tensor_operand Operand>
  auto operator()(Operand&& operand) {
    const auto& input = detail::settled_input(std::forward<Operand>(operand));
    return attempt_forward(*this, [&] {
      return apply_tuple(
          [&](Branches&... branch) {
            return detail::settled(concatenate(axis<1>, detail::call_through(input, branch)...));
          },
          this->layers);
    });
  }
};

/// Several layers side by side; a branch of more than one layer is a `sequential`.
/// example   nn::branches(nn::conv2d<8, 4, 1>{}, nn::sequential(nn::conv2d<8, 4, 1>{}, nn::conv2d<4, 8, 3, same>{}))
/// source    Szegedy and others 2014: Going deeper with convolutions
template <class... Branches>
branching_layer<Branches...> branches(Branches... layers) {
  branching_layer<Branches...> result{{make_tuple_of(std::move(layers)...)}};
  result.is_as_made = result.initialise_unwritten(0);
  return result;
}

}  // namespace tenon::nn
