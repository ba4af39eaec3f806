// tenon/nn/padding.hpp: layers that put more elements at the ends of axes: a number, or elements of the input.
// Names, the order of widths and shapes are those of torch.nn.ZeroPad1d to torch.nn.CircularPad3d.
// Floor 7: may include base, core, expr, grad, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/pad.hpp>
#include <tenon/nn/expression_layer.hpp>
#include <tenon/nn/per_axis.hpp>

namespace tenon::nn {

/// What lies beside the input where it is one number.
struct constant_border {
  double value = 0;

  constexpr constant_border() = default;
  constexpr explicit constant_border(double number) : value(number) {}
};

namespace detail {

/// The widths that a type says: one for all ends, or one for each; `dyn` where it says none.
template <int Count, index... Widths>
constexpr per_axis<Count> widths_of_type() {
  if constexpr (sizeof...(Widths) == 0) return per_axis<Count>(dyn);
  else return per_axis<Count>(Widths...);
}

}  // namespace detail

/// Pads the last `Rank` axes. `Widths` are in PyTorch's order, the last axis first: left, right, top, bottom, front,
/// back; or one for all ends; or none, and the constructor is given them. `Border` says what lies there: a
/// `constant_border`, or a rule of `pad`.
/// extents   before + extent + after along each of the axes; static where all is
/// throws    shape_error for negative widths, or such that the rule has no element for
/// example   nn::zero_pad2d<1>{}, nn::constant_pad1d<2, 1>{3.5}, nn::reflection_pad2d<>({1, 2, 3, 0}),
///           nn::constant_pad1d<>({2, 1}, nn::constant_border{3.5})
template <class Border, int Rank, index... Widths>
struct padding_layer : stateless, expression_layer<padding_layer<Border, Rank, Widths...>> {
  static constexpr const char* name = "pad";
  static constexpr int rank = Rank, end_count = 2 * Rank;
  static constexpr bool is_static = sizeof...(Widths) != 0;
  static_assert(sizeof...(Widths) <= 1 || sizeof...(Widths) == end_count,
                "tenon: paddings have one width for all ends, or two for each axis");
  static_assert(((Widths >= 0) && ...), "tenon: widths of padding are at least 0");
  per_axis<end_count> widths = detail::widths_of_type<end_count, Widths...>();
  [[no_unique_address]] Border border;

  constexpr padding_layer()  // not explicit: a member is made from {}
    requires(is_static)
      : border() {}
  template <class... Beside>
    requires(is_static && sizeof...(Beside) != 0 && std::is_constructible_v<Border, Beside...>)
  constexpr explicit padding_layer(Beside... beside) : border(beside...) {}
  constexpr explicit padding_layer(const per_axis<end_count>& given, const Border& beside = Border())
    requires(!is_static)
      : widths(given), border(beside) {}

  template <shape_type Input>
  constexpr auto output_shape(const Input& input) const {
    static_assert(Input::rank >= Rank || must_hold<constant<Input::rank>, constant<Rank>>,
                  "tenon: this layer pads more axes than its input has");
    array<index, Input::rank> extents = input.to_array();
    for (int axis = 0; axis < Input::rank; ++axis) {
      const auto [before, after] = ends(widths, axis, Input::rank);
      extents[axis] += before + after;
    }
    return shape_of<detail::output_extents<padding_layer, Input>, Input::rank>(extents);
  }
  /// What the type knows of the extents of its output for inputs of a shape.
  template <class Input>
  static constexpr index known_output(int axis) {
    const index extent = Input::static_extent(axis);
    if (axis < Input::rank - Rank) return extent;
    const auto [before, after] = ends(detail::widths_of_type<end_count, Widths...>(), axis, Input::rank);
    return is_static && extent != dyn ? before + extent + after : dyn;
  }
  template <class Input>
  auto expression(const Input& x) const {
    constexpr int input_rank = Input::shape_type::rank;
    array<padding, input_rank> all{};
    for (int axis = 0; axis < input_rank; ++axis) all[axis] = ends(widths, axis, input_rank);
    if constexpr (padding_mode<Border>) return pad(x, all, border);
    else return pad(x, all, converted_to<typename Input::element>(border.value));
  }

 private:
  static constexpr padding ends(const per_axis<end_count>& all, int axis, int input_rank) {
    const int from_last = input_rank - 1 - axis;
    return from_last < Rank ? padding(all[2 * from_last], all[2 * from_last + 1]) : padding(0);
  }
};

template <index... Widths>
using zero_pad1d = padding_layer<constant_border, 1, Widths...>;
template <index... Widths>
using zero_pad2d = padding_layer<constant_border, 2, Widths...>;
template <index... Widths>
using zero_pad3d = padding_layer<constant_border, 3, Widths...>;
template <index... Widths>
using constant_pad1d = padding_layer<constant_border, 1, Widths...>;
template <index... Widths>
using constant_pad2d = padding_layer<constant_border, 2, Widths...>;
template <index... Widths>
using constant_pad3d = padding_layer<constant_border, 3, Widths...>;
template <index... Widths>
using reflection_pad1d = padding_layer<reflect_padding, 1, Widths...>;
template <index... Widths>
using reflection_pad2d = padding_layer<reflect_padding, 2, Widths...>;
template <index... Widths>
using reflection_pad3d = padding_layer<reflect_padding, 3, Widths...>;
template <index... Widths>
using replication_pad1d = padding_layer<replicate_padding, 1, Widths...>;
template <index... Widths>
using replication_pad2d = padding_layer<replicate_padding, 2, Widths...>;
template <index... Widths>
using replication_pad3d = padding_layer<replicate_padding, 3, Widths...>;
template <index... Widths>
using circular_pad1d = padding_layer<circular_padding, 1, Widths...>;
template <index... Widths>
using circular_pad2d = padding_layer<circular_padding, 2, Widths...>;
template <index... Widths>
using circular_pad3d = padding_layer<circular_padding, 3, Widths...>;

}  // namespace tenon::nn
