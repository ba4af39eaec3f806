// tenon/expr/views/permute.hpp: axes in another order.
// Static extents move along with their axes.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/index_map.hpp>

namespace tenon {

namespace detail {
template <int... Axes>
constexpr bool is_permutation_of_axes() {
  constexpr int rank = static_cast<int>(sizeof...(Axes));
  array<int, rank> seen{};
  ((seen[normalise_axis(Axes, rank)] += 1), ...);
  for (int axis = 0; axis < rank; ++axis) {
    if (seen[axis] != 1) return false;
  }
  return true;
}
}  // namespace detail

/// Axis i of the result is axis `Axes[i]` of the operand.
/// cost      none of its own: strides change
/// example   y = permute(x, axis<1, 0>);
template <tensor_operand Operand, int... Axes>
constexpr auto permute(Operand&& operand, axis_list<Axes...>) {
  using old_shape = typename std::remove_cvref_t<Operand>::shape_type;
  constexpr int rank = old_shape::rank;
  static_assert(sizeof...(Axes) == rank, "tenon: permute names every axis once");
  static_assert(detail::is_permutation_of_axes<Axes...>(), "tenon: permute names every axis once");
  using new_shape = shape<old_shape::static_extent(normalise_axis(Axes, rank))...>;
  const axis_map<rank, rank> map{{}, {{normalise_axis(Axes, rank)...}}, filled_array<rank>(index{1})};
  const array<index, rank> extents{{operand.shape().extent(normalise_axis(Axes, rank))...}};
  return make_index_map<renamed_axes<normalise_axis(Axes, rank)...>>(std::forward<Operand>(operand), new_shape(extents),
                                                                     map);
}

/// Two axes exchanged.
/// cost      none of its own: strides change
/// example   y = swap_axes(x, axis<0, 1>);
template <tensor_operand Operand, int First, int Second>
constexpr auto swap_axes(Operand&& operand, axis_list<First, Second>) {
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  constexpr int first = only_axis<rank>(axis_list<First>{}), second = only_axis<rank>(axis_list<Second>{});
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return permute(std::forward<Operand>(operand), axis<(I == first ? second : I == second ? first : I)...>);
  }(std::make_integer_sequence<int, rank>{});
}

/// The last two axes exchanged.
/// example   y = transpose(x);
template <tensor_operand Operand>
constexpr auto transpose(Operand&& operand) {
  static_assert(std::remove_cvref_t<Operand>::shape_type::rank >= 2, "tenon: transpose takes at least two axes");
  return swap_axes(std::forward<Operand>(operand), axis<-2, -1>);
}

/// Axis `From` at place `To` of the result; the others keep their order.
/// cost      none of its own: strides change
/// example   move_axis(images, axis<-1>, axis<1>) takes [batch, height, width, channels] to channels second
template <tensor_operand Operand, int From, int To>
constexpr auto move_axis(Operand&& operand, axis_list<From>, axis_list<To>) {
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  constexpr int from = only_axis<rank>(axis_list<From>{}), to = only_axis<rank>(axis_list<To>{});
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return permute(std::forward<Operand>(operand), axis<(I == to               ? from
                                                         : I >= from && I < to ? I + 1
                                                         : I <= from && I > to ? I - 1
                                                                               : I)...>);
  }(std::make_integer_sequence<int, rank>{});
}

}  // namespace tenon
