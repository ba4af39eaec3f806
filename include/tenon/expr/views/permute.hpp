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
template <tensor_operand Operand, int... Axes>
auto permute(Operand&& operand, axis_list<Axes...>) {
  using old_shape = typename std::remove_cvref_t<Operand>::shape_type;
  constexpr int rank = old_shape::rank;
  static_assert(sizeof...(Axes) == rank, "tenon: permute names every axis once");
  static_assert(detail::is_permutation_of_axes<Axes...>(), "tenon: permute names every axis once");
  using new_shape = shape<old_shape::static_extent(normalise_axis(Axes, rank))...>;
  const axis_map<rank, rank> map{{}, {{normalise_axis(Axes, rank)...}}, filled_array<rank>(index{1})};
  const array<index, rank> extents{{operand.shape().extent(normalise_axis(Axes, rank))...}};
  return make_index_map(std::forward<Operand>(operand), new_shape(extents), map);
}

/// The last two axes exchanged.
template <tensor_operand Operand>
auto transpose(Operand&& operand) {
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  static_assert(rank >= 2, "tenon: transpose takes at least two axes");
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return permute(std::forward<Operand>(operand), axis<I..., rank - 1, rank - 2>);
  }(std::make_integer_sequence<int, rank - 2>{});
}

}  // namespace tenon
