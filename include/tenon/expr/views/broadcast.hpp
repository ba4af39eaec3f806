// tenon/expr/views/broadcast.hpp: the same elements seen along more positions.
// Operands of an operation broadcast by themselves; this is for when the extents must be written down.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/index_map.hpp>

namespace tenon {

/// Names the operation in messages.
struct broadcast_to_operation {
  static constexpr const char* name = "broadcast_to";
};

/// `operand` with the extents of `target`: axes are aligned at the back, extents of 1 are repeated.
/// throws    shape_error when an extent is neither 1 nor the target's
template <tensor_operand Operand, shape_type Shape>
auto broadcast_to(Operand&& operand, const Shape& target) {
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  static_assert(rank <= Shape::rank, "tenon: broadcast_to cannot remove axes");
  const auto extents = broadcast_extents<broadcast_to_operation>(operand.shape(), target);
  if (!(extents == target)) {
    throw shape_error(
        compose_text("broadcast_to: extents ", operand.shape().to_array(), " do not repeat to ", target.to_array()));
  }
  const auto map = broadcast_map(identity_map<Shape::rank>(), operand.shape().to_array());
  return make_index_map(std::forward<Operand>(operand), target, map);
}

}  // namespace tenon
