// tenon/expr/views/select.hpp: one position of an axis, which goes away.
// What x[i] and x.select(axis, i) are in PyTorch.
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

}  // namespace tenon
