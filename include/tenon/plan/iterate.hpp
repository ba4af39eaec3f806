// tenon/plan/iterate.hpp: the iteration spaces of reductions.
// Kept axes come first and reduced axes last, so that loops and kernels see "results" and "values of a result".
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/reduce.hpp>
#include <tenon/plan/access.hpp>

namespace tenon {

/// The order of axes in which a reduction is iterated.
template <int Rank>
struct reduction_order {
  array<int, Rank> axis_of;  // the operand's axis at each place
  int kept;                  // kept axes in front
};

/// Kept axes, then reduced ones; `last_kept_at_end` moves the last kept axis behind the reduced.
template <int Rank>
constexpr reduction_order<Rank> order_axes(const array<bool, Rank>& reduced, bool last_kept_at_end) {
  reduction_order<Rank> order{};
  int place = 0, last_kept = -1;
  for (int axis = 0; axis < Rank; ++axis) {
    if (!reduced[axis]) order.axis_of[place++] = last_kept = axis;
  }
  if (last_kept_at_end && last_kept >= 0) order.axis_of[Rank - 1] = last_kept, --place;
  order.kept = place;
  for (int axis = 0; axis < Rank; ++axis) {
    if (reduced[axis]) order.axis_of[place++] = axis;
  }
  return order;
}

/// The map of a node of `Rank` axes that is iterated in another order of its axes.
template <int Rank>
constexpr axis_map<Rank, Rank> ordered_map(const array<int, Rank>& axis_of) {
  return {{}, axis_of, filled_array<Rank>(index{1})};
}

/// The last axis of a shape that is not known to have extent 1; the loop over results runs along it.
template <shape_type Shape>
constexpr int last_moving_axis() {
  int axis = Shape::rank - 1;
  while (axis > 0 && Shape::static_extent(axis) == 1) --axis;
  return axis;
}

/// All axes in order, but `axis` last.
template <int Rank>
constexpr array<int, Rank> with_axis_last(int axis) {
  array<int, Rank> order{};
  int place = 0;
  for (int each = 0; each < Rank; ++each) {
    if (each != axis) order[place++] = each;
  }
  if (Rank > 0) order[Rank - 1] = axis;
  return order;
}

namespace detail {

template <class E>
constexpr auto list_reductions(const E& node) {
  const auto below = apply_tuple([](const auto&... operand) { return join(list_reductions(operand)...); }, node.operands);
  if constexpr (std::is_same_v<typename E::kind, reduction_kind>) {
    return join(below, make_tuple_of(&node));
  } else {
    return below;
  }
}

}  // namespace detail

/// Pointers to the reductions of an expression in post order, the order of their slots.
template <class E>
constexpr auto reductions_of(const E& node) {
  return detail::list_reductions(node);
}

}  // namespace tenon
