// tenon/expr/views/select.hpp: one position of an axis, which goes away.
// What x[i] and x.select(axis, i) are in PyTorch, and x[:, 3] in NumPy.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/reshape.hpp>
#include <tenon/expr/views/slice.hpp>

namespace tenon {

/// What stands at `position` of an axis; negative positions count from the back. The result has an axis less; that of a
/// tensor can be assigned to.
/// throws    index_error for a position outside the axis
/// cost      none of its own: strides change
/// example   head(select(lstm(x).sequence, axis<0>, -1));  // of the last time step
template <tensor_operand Operand, int Axis>
constexpr auto select(Operand&& operand, axis_list<Axis>, index position) {
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  constexpr int chosen = normalise_axis(Axis, rank);
  const auto extents = operand.shape();
  auto map = identity_map<rank>();
  map.start[chosen] = detail::checked_position(chosen, position, extents.to_array());
  return squeeze(
      make_index_map<same_moved_axes<rank>>(std::forward<Operand>(operand), with_extent<chosen, 1>(extents, 1), map),
      axis<chosen>);
}

namespace detail {

/// A position in the place of a range. Types know that it has one element.
struct chosen_position {
  index place;
  constexpr operator range() const { return only(place); }
};
template <index Extent>
inline constexpr index known_count<Extent, chosen_position> = 1;

template <class Part>
constexpr auto part_of_axis(const Part& part) {
  if constexpr (std::convertible_to<Part, index>) return chosen_position{static_cast<index>(part)};
  else return part;
}

/// The axes for which `Parts` hold a position.
template <class... Parts>
constexpr auto axes_of_positions() {
  constexpr int count = (0 + ... + (std::convertible_to<Parts, index> ? 1 : 0));
  constexpr auto chosen =
      kept_axes<static_cast<int>(sizeof...(Parts)), count>({{!std::convertible_to<Parts, index>...}});
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return axis<chosen[I]...>;
  }(std::make_integer_sequence<int, count>{});
}

template <class Part>
concept axis_part = std::convertible_to<Part, index> || std::convertible_to<Part, range>;

/// The part at ranges and positions, of which all may be positions.
template <tensor_operand Operand, class... Parts>
constexpr auto part_at(Operand&& operand, const Parts&... parts) {
  constexpr auto dropped = axes_of_positions<Parts...>();
  auto chosen = slice(std::forward<Operand>(operand), part_of_axis(parts)...);
  if constexpr (std::is_same_v<decltype(dropped), const axis_list<>>) return chosen;
  else return squeeze(std::move(chosen), dropped);
}

/// What a traced value has at positions and ranges. An element of it is an expression, as gradients flow through it.
template <class Leaf, class... Parts>
auto traced_part(const Leaf& whole, const Parts&... parts) {
  constexpr bool is_element = (std::convertible_to<Parts, index> && ...);
  static_assert(!is_element || sizeof...(Parts) == Leaf::shape_type::rank || must_hold<typename Leaf::shape_type>,
                "tenon: one index for each axis");
  if constexpr (is_element) return part_at(whole, parts...);
  else return subscripts(whole, parts...);
}

}  // namespace detail

/// Ranges and positions, one for each axis from the front; missing ones mean whole axes. Ranges keep their axis, and
/// positions drop it, as in NumPy. `x(range(1, 3), 2)` of a tensor is `select(x, range(1, 3), 2)`.
/// throws    index_error for a position or a begin outside the axis
/// cost      none of its own: strides change
/// example   select(table, all_of, 3) = 0;  // the column table(all_of, 3)
template <tensor_operand Operand, detail::axis_part... Parts>
  requires(!std::convertible_to<Parts, index> || ...)
constexpr auto select(Operand&& operand, const Parts&... parts) {
  return detail::part_at(std::forward<Operand>(operand), parts...);
}

}  // namespace tenon
