// tenon/expr/views/flip.hpp: axes read backwards.
// A negative stride; the result of flipping a tensor can be assigned to.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/index_map.hpp>

namespace tenon {

/// The elements in opposite order along each of the axes.
/// extents   the operand's
/// cost      none of its own: strides change
/// example   y = flip(x, axis<1>);
template <tensor_operand Operand, int... Axes>
constexpr auto flip(Operand&& operand, axis_list<Axes...> axes) {
  using shape_type = typename std::remove_cvref_t<Operand>::shape_type;
  constexpr int rank = shape_type::rank;
  const auto flipped = axis_set<rank>(axes);
  const shape_type extents = operand.shape();
  auto map = identity_map<rank>();
  for (int axis = 0; axis < rank; ++axis) {
    if (!flipped[axis] || extents.extent(axis) == 0) continue;
    map.start[axis] = extents.extent(axis) - 1;
    map.step[axis] = -1;
  }
  return make_index_map<same_moved_axes<rank>>(std::forward<Operand>(operand), extents, map);
}

}  // namespace tenon
