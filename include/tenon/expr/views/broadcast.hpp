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
/// example   y = broadcast_to(row, rank<2>(4, 3));
template <tensor_operand Operand, shape_type Shape>
constexpr auto broadcast_to(Operand&& operand, const Shape& target) {
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  static_assert(rank <= Shape::rank, "tenon: broadcast_to cannot remove axes");
  const auto extents = broadcast_extents<broadcast_to_operation>(operand.shape(), target);
  if (!(extents == target)) {
    throw shape_error(
        compose_text("broadcast_to: extents ", operand.shape().to_array(), " do not repeat to ", target.to_array()));
  }
  const auto map = broadcast_map(identity_map<Shape::rank>(), operand.shape().to_array());
  return make_index_map<repeated_axes>(std::forward<Operand>(operand), target, map);
}
template <tensor_operand Operand, int Rank>
constexpr auto broadcast_to(Operand&& operand, const listed_extent (&target)[Rank]) {
  return broadcast_to(std::forward<Operand>(operand), listed_shape(target));
}

namespace detail {

/// The extents that `expand` gives, -1 replaced.
template <int Rank, shape_type Shape>
rank<Rank> expanded_extents(const index (&extents)[Rank], const Shape& operand) {
  array<index, Rank> result{};
  for (int axis = 0; axis < Rank; ++axis) {
    const int source = axis - (Rank - Shape::rank);
    const index kept = source < 0 ? 1 : operand.extent(source);
    result[axis] = extents[axis] == -1 ? kept : extents[axis];
    const bool is_new_and_kept = source < 0 && extents[axis] == -1;
    if (is_new_and_kept || result[axis] < 0 || (kept != 1 && result[axis] != kept)) {
      throw shape_error(compose_text("expand: axis ", axis, ": extent ", extents[axis], ", expected ",
                                     is_new_and_kept ? "that of a new axis"
                                     : kept == 1     ? "at least 0"
                                                     : compose_text(kept, " or -1"),
                                     " (operand ", operand.to_array(), ")"));
    }
  }
  return rank<Rank>(result);
}

}  // namespace detail

/// `operand` with its extents of 1 repeated: `expand(x, {4, -1})`, where -1 keeps an extent, as in PyTorch. Axes are
/// aligned at the back; those in front are new.
/// throws    shape_error naming an axis that does not repeat so
/// cost      none of its own: repeated elements are not stored
/// example   y = expand(row, {4, -1});
template <tensor_operand Operand, int Rank>
constexpr auto expand(Operand&& operand, const index (&extents)[Rank]) {
  static_assert(std::remove_cvref_t<Operand>::shape_type::rank <= Rank, "tenon: expand cannot remove axes");
  const auto target = detail::expanded_extents(extents, operand.shape());
  return broadcast_to(std::forward<Operand>(operand), target);
}

}  // namespace tenon
