// tenon/nn/per_axis.hpp: options of layers that move windows: one number for each axis, or one for all.
// They are template arguments as well as values at run time.
// Floor 7: may include base, core, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/extents.hpp>

namespace tenon::nn {

/// Of padding: what keeps the extents at stride 1; where it is odd, the one more is behind, as in PyTorch. Of an
/// adaptive pool's output: as many as the input has.
inline constexpr index same = -2;

/// A number for each of `Rank` axes; one alone is that of all: `.stride = 2`, `.stride = {2, 1}`.
template <int Rank, class Number = index>
struct per_axis {
  Number values[Rank]{};

  constexpr per_axis(Number all) {
    for (Number& value : values) value = all;
  }
  template <std::convertible_to<Number>... Values>
    requires(sizeof...(Values) == Rank && Rank > 1)
  constexpr per_axis(Values... each) : values{static_cast<Number>(each)...} {}
  /// The same, as nvcc writes a template argument for its host compiler.
  constexpr per_axis(const Number (&each)[Rank])
    requires(Rank > 1)
  {
    for (int axis = 0; axis < Rank; ++axis) values[axis] = each[axis];
  }

  constexpr Number operator[](index axis) const { return values[axis]; }
  bool operator==(const per_axis&) const = default;
};

/// Numbers that a layer's type holds, one for each axis, of the `per_axis` that users write. Layers are templates of
/// numbers and types alone: nvcc cannot name a type made of an object of a class to its host compiler.
template <index... Values>
struct axis_numbers {
  static constexpr int count = static_cast<int>(sizeof...(Values));
  static constexpr per_axis<count> value{Values...};
  /// The shape of these extents behind others.
  template <index... Before>
  using shape_behind = shape<Before..., Values...>;
};

namespace detail {
template <class Extents, class Axes>
struct shape_with;
template <class Extents, int... Axes>
struct shape_with<Extents, std::integer_sequence<int, Axes...>> {
  using type = shape<Extents::at(Axes)...>;
};
}  // namespace detail

/// The shape of `Rank` axes whose static extents are `Extents::at(axis)`.
template <class Extents, int Rank>
using shape_of = typename detail::shape_with<Extents, std::make_integer_sequence<int, Rank>>::type;

namespace detail {
/// What types know of the extents of a layer's output, for inputs of a shape.
template <class Layer, class Input>
struct output_extents {
  static constexpr index at(int axis) { return Layer::template known_output<Input>(axis); }
};
}  // namespace detail

}  // namespace tenon::nn
