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

/// The last axis before `end` of another extent than 1; the loop over results runs along it.
template <int Rank>
constexpr int last_moving_axis(const array<index, Rank>& extents, int end) {
  int axis = end - 1;
  while (axis > 0 && extents[axis] == 1) --axis;
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

/// A reduction in program form, for loops and kernels. Its iteration space has the kept axes first and the reduced ones
/// last; when `along_kept`, the last kept axis comes last instead, so that neighbouring results are folded side by
/// side.
template <class Reduction, int Rank, class Program>
struct reduction_program {
  using monoid = typename Reduction::monoid;
  using state = typename Reduction::state;
  using value_type = compute_type<typename Reduction::element>;
  static constexpr int rank = Rank;

  Program program;
  array<index, Rank> extents;
  array<int, Rank> in_result;  // which axis of the result each iteration axis is; -1 for the reduced
  int kept;                    // kept axes in front
  bool along_kept;
  index count;  // values per result
  index total;  // values of all results

  /// Length of the innermost axis, and how many such runs a result (or a block of results) has.
  TENON_HOST_DEVICE constexpr index run_length() const { return Rank == 0 ? 1 : extents[Rank - 1]; }
  TENON_HOST_DEVICE constexpr index run_count() const { return count_between(extents, kept, Rank - 1); }
  /// Where the values of the result at `position` start, in the order of iteration.
  template <int ResultRank>
  TENON_HOST_DEVICE constexpr array<index, Rank> start_of(const array<index, ResultRank>& position) const {
    array<index, Rank> result{};
    if constexpr (ResultRank != 0) {
      for (int place = 0; place < kept; ++place) result[place] = position[in_result[place]];
      if (along_kept) result[Rank - 1] = position[in_result[Rank - 1]];
    }
    return result;
  }
};

/// Lowers a reduction whose operand holds slots from `FirstSlot` on. Kept axes take the extents of the statement's
/// result; reduced axes are merged where memory allows.
template <int FirstSlot, class Reduction, int ResultRank>
TENON_INLINE auto lower_reduction(const Reduction& node, const array<index, ResultRank>& result_extents,
                                  bool along_kept) {
  using operand = std::remove_cvref_t<decltype(node.operand())>;
  constexpr int rank = operand::shape_type::rank;
  constexpr auto reduced = reduced_axes<rank>(typename Reduction::axes{});
  const auto order = order_axes<rank>(reduced, along_kept);
  const auto operand_extents = node.operand().shape().to_array();
  auto program = node.operand().template lower<FirstSlot>(broadcast_map(ordered_map(order.axis_of), operand_extents));
  constexpr auto axes = axes_in_result<rank>(typename Reduction::axes{});
  array<index, rank> extents{};
  array<int, rank> in_result{};
  for (int place = 0; place < rank; ++place) {
    const int axis = order.axis_of[place];
    in_result[place] = axes[axis];
    extents[place] = axes[axis] < 0 || ResultRank == 0 ? operand_extents[axis] : result_extents[axes[axis]];
  }
  merge_axes(extents, order.kept, along_kept ? rank - 1 : rank, [&](auto&& visitor) { program.visit(visitor); });
  return reduction_program<Reduction, rank, decltype(program)>{program,
                                                               extents,
                                                               in_result,
                                                               order.kept,
                                                               along_kept,
                                                               folded_count(reduced, operand_extents),
                                                               count_between(extents, 0, rank)};
}

namespace detail {
template <int FirstSlot, class... Operands, class Lower, int... I>
TENON_INLINE auto lower_below(const tuple<Operands...>& operands, const Lower& lower_one,
                              std::integer_sequence<int, I...>);
}

/// Calls `lower_one(constant<first slot of its operand>, reduction)` for each reduction of an expression in post order,
/// the order of their slots, and returns the results as a tuple.
template <int FirstSlot, class E, class Lower>
TENON_INLINE auto lower_reductions(const E& node, const Lower& lower_one) {
  using positions = std::make_integer_sequence<int, decltype(E::operands)::count>;
  const auto below = detail::lower_below<FirstSlot>(node.operands, lower_one, positions{});
  if constexpr (std::is_same_v<typename E::kind, reduction_kind>) {
    return join(below, make_tuple_of(lower_one(constant<FirstSlot>{}, node)));
  } else {
    return below;
  }
}

namespace detail {

/// The number of the first slot of operand `Position`.
template <int FirstSlot, int Position, class... Operands>
constexpr int first_slot_of() {
  constexpr int counts[] = {slot_count<Operands>..., 0};
  int slot = FirstSlot;
  for (int before = 0; before < Position; ++before) slot += counts[before];
  return slot;
}

template <int FirstSlot, class... Operands, class Lower, int... I>
auto lower_below(const tuple<Operands...>& operands, [[maybe_unused]] const Lower& lower_one,
                 std::integer_sequence<int, I...>) {
  return join(lower_reductions<first_slot_of<FirstSlot, I, Operands...>()>(get<I>(operands), lower_one)...);
}

}  // namespace detail
}  // namespace tenon
