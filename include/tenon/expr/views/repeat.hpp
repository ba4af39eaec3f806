// tenon/expr/views/repeat.hpp: elements said again: each of them in a row, or all of them one copy after another.
// Repetition is a division or a remainder of the position.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/checked_arithmetic.hpp>
#include <tenon/expr/views/index_map.hpp>
#include <tenon/expr/views/remap.hpp>

namespace tenon {

/// Position p along `Axis` reads p / count.
template <int Axis>
struct repeat_map {
  index count;

  static constexpr bool moves_in_runs(int rank) { return Axis + 1 < rank; }
  template <int Rank>
  TENON_HOST_DEVICE constexpr array<index, Rank> operator()(array<index, Rank> position) const {
    position[Axis] /= count;
    return position;
  }
};

/// Position p along the axes reads p % extent.
template <int Rank>
struct tile_map {
  array<index, Rank> extents;

  static constexpr bool moves_in_runs(int) { return true; }
  TENON_HOST_DEVICE constexpr array<index, Rank> operator()(array<index, Rank> position) const {
    for (int axis = 0; axis < Rank; ++axis) position[axis] %= extents[axis];
    return position;
  }
};

namespace detail {
/// How long an axis is that is said `count` times.
inline index repeated_length(const char* name, int axis, index extent, index count) {
  const checked_extent length = checked_extent(extent) * count;
  if (count >= 0 && length.fits()) return length.value();
  throw shape_error(compose_text(name, ": axis ", axis, ": count ", count,
                                 ", expected at least 0, and a length within 64 bits (extent ", extent, ")"));
}
}  // namespace detail

/// Each element `count` times in a row along one axis.
/// extents   count * extent along that axis
/// throws    shape_error for a negative count, or a length beyond 64 bits
/// example   repeat(x, 2, axis<0>) of 1 2 is 1 1 2 2
template <tensor_operand Operand, int Axis>
constexpr auto repeat(Operand&& operand, index count, axis_list<Axis>) {
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  constexpr int position = only_axis<rank>(axis_list<Axis>{});
  const index length = detail::repeated_length("repeat", position, operand.shape().extent(position), count);
  const auto extents = with_extent<position>(operand.shape(), length);
  return make_remap(repeat_map<position>{count}, extents, as_node(std::forward<Operand>(operand)));
}

/// The whole operand `counts[a]` times along each axis a.
/// extents   counts[a] * extent
/// throws    shape_error for a negative count, or a length beyond 64 bits
/// example   tile(x, {{2}}) of 1 2 is 1 2 1 2
template <tensor_operand Operand>
constexpr auto tile(Operand&& operand, const array<index, std::remove_cvref_t<Operand>::shape_type::rank>& counts) {
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  const array<index, rank> single = operand.shape().to_array();
  auto extents = single;
  for (int axis = 0; axis < rank; ++axis) {
    extents[axis] = detail::repeated_length("tile", axis, single[axis], counts[axis]);
  }
  return make_remap(tile_map<rank>{single}, tenon::rank<rank>(extents), as_node(std::forward<Operand>(operand)));
}

}  // namespace tenon
