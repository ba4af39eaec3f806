// tenon/expr/compound_assignment.hpp: x += y and its kin.
// Each is the statement x = x + y: one pass, and right whatever y reads.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/operations/bitwise.hpp>
#include <tenon/expr/operations/division.hpp>

namespace tenon {

/// What an assignment of `Op` on itself and `Operand` changes: a tensor, a view, or a traced value, which then names
/// the result.
template <class Destination, class Op, class Operand>
concept updated_by = tensor_operand<Destination> && operands_of_expression<Destination, Operand> &&
                     std::is_assignable_v<Destination, pointwise_of<Op, Destination, Operand>>;

namespace detail {
/// Whether a destination has the axes of what it becomes; a traced value takes them.
template <class Op, class Destination, class Operand, class Kept = std::remove_cvref_t<Destination>>
inline constexpr bool has_axes_after = [] {
  if constexpr (!is_tensor<Kept> && !is_view<Kept>) return true;
  else return ranks_fit<typename Kept::shape_type, typename pointwise_of<Op, Destination, Operand>::shape_type>();
}();
template <class Op, class Destination, class Operand>
TENON_INLINE constexpr Destination update(Destination&& destination, Operand&& operand) {
  destination = apply_op<Op>(destination, std::forward<Operand>(operand));
  return std::forward<Destination>(destination);
}
}  // namespace detail

/// x = x + y; the others below likewise. A tensor or view keeps its extents.
/// throws    shape_error where y does not repeat over them
template <class Operand, updated_by<add_op, Operand> Destination>
TENON_INLINE constexpr Destination operator+=(Destination&& destination, Operand&& operand) {
  static_assert(detail::has_axes_after<add_op, Destination, Operand> || must_hold<Destination, Operand>,
                "tenon: the destination has fewer axes than the expression");
  return detail::update<add_op>(std::forward<Destination>(destination), std::forward<Operand>(operand));
}
template <class Operand, updated_by<subtract_op, Operand> Destination>
TENON_INLINE constexpr Destination operator-=(Destination&& destination, Operand&& operand) {
  static_assert(detail::has_axes_after<subtract_op, Destination, Operand> || must_hold<Destination, Operand>,
                "tenon: the destination has fewer axes than the expression");
  return detail::update<subtract_op>(std::forward<Destination>(destination), std::forward<Operand>(operand));
}
template <class Operand, updated_by<multiply_op, Operand> Destination>
TENON_INLINE constexpr Destination operator*=(Destination&& destination, Operand&& operand) {
  static_assert(detail::has_axes_after<multiply_op, Destination, Operand> || must_hold<Destination, Operand>,
                "tenon: the destination has fewer axes than the expression");
  return detail::update<multiply_op>(std::forward<Destination>(destination), std::forward<Operand>(operand));
}
template <class Operand, updated_by<divide_op, Operand> Destination>
TENON_INLINE constexpr Destination operator/=(Destination&& destination, Operand&& operand) {
  static_assert(detail::has_axes_after<divide_op, Destination, Operand> || must_hold<Destination, Operand>,
                "tenon: the destination has fewer axes than the expression");
  return detail::update<divide_op>(std::forward<Destination>(destination), std::forward<Operand>(operand));
}
template <class Operand, updated_by<remainder_op, Operand> Destination>
TENON_INLINE constexpr Destination operator%=(Destination&& destination, Operand&& operand) {
  return detail::update<remainder_op>(std::forward<Destination>(destination), std::forward<Operand>(operand));
}
template <class Operand, updated_by<bitwise_and_op, Operand> Destination>
TENON_INLINE constexpr Destination operator&=(Destination&& destination, Operand&& operand) {
  return detail::update<bitwise_and_op>(std::forward<Destination>(destination), std::forward<Operand>(operand));
}
template <class Operand, updated_by<bitwise_or_op, Operand> Destination>
TENON_INLINE constexpr Destination operator|=(Destination&& destination, Operand&& operand) {
  return detail::update<bitwise_or_op>(std::forward<Destination>(destination), std::forward<Operand>(operand));
}
template <class Operand, updated_by<bitwise_xor_op, Operand> Destination>
TENON_INLINE constexpr Destination operator^=(Destination&& destination, Operand&& operand) {
  return detail::update<bitwise_xor_op>(std::forward<Destination>(destination), std::forward<Operand>(operand));
}
template <class Operand, updated_by<left_shift_op, Operand> Destination>
TENON_INLINE constexpr Destination operator<<=(Destination&& destination, Operand&& operand) {
  return detail::update<left_shift_op>(std::forward<Destination>(destination), std::forward<Operand>(operand));
}
template <class Operand, updated_by<right_shift_op, Operand> Destination>
TENON_INLINE constexpr Destination operator>>=(Destination&& destination, Operand&& operand) {
  return detail::update<right_shift_op>(std::forward<Destination>(destination), std::forward<Operand>(operand));
}

}  // namespace tenon
