// tenon/expr/views/roll.hpp: elements moved around along an axis, those that leave at one end coming in at the other.
// The shift is any number: it is taken modulo the extent once, and a position then wraps at most once.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/remap.hpp>

namespace tenon {

/// Position p along `Axis` reads p + advance, modulo the extent.
template <int Axis>
struct roll_map {
  index advance, extent;

  static constexpr bool moves_in_runs(int) { return true; }
  constexpr index run_length(index position, int axis) const {
    if (axis != Axis) return INT64_MAX;
    return position + advance < extent ? extent - advance - position : 2 * extent - advance - position;
  }
  template <int Rank>
  TENON_HOST_DEVICE constexpr array<index, Rank> operator()(array<index, Rank> position) const {
    const index ahead = position[Axis] + advance;
    position[Axis] = ahead < extent ? ahead : ahead - extent;
    return position;
  }
};

/// The elements `shift` positions further along one axis, around its end.
/// extents   the operand's
/// example   roll(x, 1, axis<-1>) of 1 2 3 is 3 1 2
template <tensor_operand Operand, int Axis>
constexpr auto roll(Operand&& operand, index shift, axis_list<Axis>) {
  using shape_type = typename std::remove_cvref_t<Operand>::shape_type;
  constexpr int position = only_axis<shape_type::rank>(axis_list<Axis>{});
  const index extent = operand.shape().extent(position);
  const index forward = extent == 0 ? 0 : shift % extent;  // in (-extent, extent)
  const index advance = forward > 0 ? extent - forward : -forward;
  const shape_type extents = operand.shape();
  return make_remap(roll_map<position>{advance, extent}, extents, as_node(std::forward<Operand>(operand)));
}

/// The same along several axes, one shift for each.
template <tensor_operand Operand, int First, int Second, int... Rest>
constexpr auto roll(Operand&& operand, const array<index, 2 + sizeof...(Rest)>& shifts,
                    axis_list<First, Second, Rest...>) {
  array<index, 1 + sizeof...(Rest)> others{};
  for (int i = 0; i < others.size(); ++i) others[i] = shifts[i + 1];
  auto rolled = roll(std::forward<Operand>(operand), shifts[0], axis<First>);
  if constexpr (sizeof...(Rest) == 0) {
    return roll(rolled, others[0], axis<Second>);
  } else {
    return roll(rolled, others, axis<Second, Rest...>);
  }
}

}  // namespace tenon
