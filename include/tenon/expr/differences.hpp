// tenon/expr/differences.hpp: differences of neighbours, and cross products.
// Plain expressions of an operand beside itself, some positions further: one kernel, and gradients as of its parts.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/views/roll.hpp>
#include <tenon/expr/views/split.hpp>

namespace tenon {

/// Each element less the one before it along the axis; of differences again, for those of higher order.
/// extents   the operand's, one less along the axis; 0 stays 0
/// example   const auto speeds = evaluated_tensor(diff(places, axis<0>) / seconds);
template <tensor_operand Operand, int Axis>
constexpr auto diff(Operand&& operand, axis_list<Axis> axes) {
  constexpr int along = only_axis<node_of<Operand>::shape_type::rank>(axes);
  const auto& x = as_node(std::forward<Operand>(operand));
  const index length = x.shape().extent(along), count = length > 0 ? length - 1 : 0;
  return narrow(x, axis<along>, length - count, count) - narrow(x, axis<along>, 0, count);
}

namespace detail {

/// Names the operation in messages.
struct cross_operation {
  static constexpr const char* name = "cross";
};

/// throws    shape_error when run-time extents along the axis are not 3
template <int Axis, class Shape>
constexpr void check_components(const Shape& extents) {
  static_assert(Shape::static_extent(Axis) == dyn || Shape::static_extent(Axis) == 3 ||
                    must_hold<at_axis<Axis>, left_extent<Shape::static_extent(Axis)>>,
                "tenon: cross multiplies vectors of three components");
  if (extents.extent(Axis) == 3) return;
  throw shape_error(compose_text("cross: axis ", Axis, ": extent ", extents.extent(Axis), ", expected 3 (operand ",
                                 extents.to_array(), ")"));
}

}  // namespace detail

/// Cross products of the vectors of three components along an axis, by default the last; others broadcast.
/// Operands of other ranks than each other count the axis from the back.
/// throws    shape_error naming the axis and its extent, where that is not 3, and where the others do not broadcast
/// cost      one kernel; on the host many vectors are fastest where types know the three components, shape<dyn, 3>, or
///           with these in the first axis, [3, n], where whole rows are multiplied
/// example   const auto torque = evaluated_tensor(cross(lever, force));
template <tensor_operand Left, tensor_operand Right, int Axis = -1>
constexpr auto cross(Left&& left, Right&& right, axis_list<Axis> axes = {}) {
  static_assert(Axis < 0 || node_of<Left>::shape_type::rank == node_of<Right>::shape_type::rank || must_hold<Left>,
                "tenon: where the operands of cross differ in rank, its axis is counted from the back, axis<-1>");
  detail::check_components<only_axis<node_of<Left>::shape_type::rank>(axis_list<Axis>{})>(left.shape());
  detail::check_components<only_axis<node_of<Right>::shape_type::rank>(axis_list<Axis>{})>(right.shape());
  broadcast_extents<detail::cross_operation>(left.shape(), right.shape());
  const auto& a = as_node(std::forward<Left>(left));
  const auto& b = as_node(std::forward<Right>(right));
  return roll(a, -1, axes) * roll(b, -2, axes) - roll(a, -2, axes) * roll(b, -1, axes);
}

}  // namespace tenon
