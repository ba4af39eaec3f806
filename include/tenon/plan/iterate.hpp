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

/// Kept axes, then reduced ones; the kept axis `at_end`, unless it is -1, comes behind the reduced.
template <int Rank>
constexpr reduction_order<Rank> order_axes(const array<bool, Rank>& reduced, int at_end) {
  reduction_order<Rank> order{};
  int place = 0;
  for (int axis = 0; axis < Rank; ++axis) {
    if (!reduced[axis] && axis != at_end) order.axis_of[place++] = axis;
  }
  order.kept = place;
  for (int axis = 0; axis < Rank; ++axis) {
    if (reduced[axis]) order.axis_of[place++] = axis;
  }
  if (at_end >= 0) order.axis_of[Rank - 1] = at_end;
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

/// The iteration space of a reduction: the kept axes come first and the reduced ones last; when `along_kept`, the last
/// kept axis comes last instead, so that neighbouring results are folded side by side.
template <int Rank>
struct reduction_space {
  static constexpr int rank = Rank;

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

/// A reduction in program form, for loops and kernels: what it folds and where, not which node it was, so that loops
/// over the same values are the same functions. `ReadsSlots` says whether it folds other reductions.
template <class Monoid, class Element, bool ReadsSlots, int Rank, class Program>
struct reduction_program : reduction_space<Rank> {
  using monoid = Monoid;
  using state = typename Monoid::template state<Element>;
  using value_type = compute_type<typename Monoid::template element<Element>>;
  static constexpr bool reads_slots = ReadsSlots;

  Program program;
};

namespace detail {

/// The last kept axis of a reduction along which its results move, or else the last kept one; -1 where none is kept.
/// `axes` are those of the result.
template <int Rank, int ResultRank>
int last_kept_axis(const array<int, Rank>& axes, const array<index, ResultRank>& result_extents) {
  int last = -1;
  for (int axis = 0; axis < Rank; ++axis) {
    if constexpr (ResultRank != 0) {
      if (axes[axis] >= 0 && (last < 0 || result_extents[axes[axis]] != 1)) last = axis;
    } else if (axes[axis] >= 0) {
      last = axis;
    }
  }
  return last;
}

/// The space of a reduction whose axes are iterated in `order` and are those of its result that `axes` names. Kept axes
/// take the extents of the statement's result.
template <int Rank, int ResultRank>
reduction_space<Rank> space_of(const reduction_order<Rank>& order, const array<int, Rank>& axes, bool along_kept,
                               const array<index, Rank>& extents, const array<index, ResultRank>& result_extents) {
  reduction_space<Rank> space{{}, {}, order.kept, along_kept, 1, 1};
  for (int place = 0; place < Rank; ++place) {
    const int axis = order.axis_of[place];
    const bool is_own = axes[axis] < 0 || ResultRank == 0;
    space.in_result[place] = axes[axis];
    space.extents[place] = is_own ? extents[axis] : result_extents[axes[axis]];
    space.count *= axes[axis] < 0 ? extents[axis] : 1;
    space.total *= space.extents[place];
  }
  return space;
}

}  // namespace detail

/// Lowers a reduction whose operand holds slots from `FirstSlot` on; reduced axes are merged where memory allows.
template <int FirstSlot, class Reduction, int ResultRank>
TENON_INLINE auto lower_reduction(const Reduction& node, const array<index, ResultRank>& result_extents,
                                  bool along_kept) {
  constexpr int rank = std::remove_cvref_t<decltype(node.operand())>::shape_type::rank;
  constexpr auto reduced = reduced_axes<rank>(typename Reduction::axes{});
  constexpr auto axes = axes_in_result<rank>(typename Reduction::axes{});
  const auto extents = node.operand().shape().to_array();
  const auto order = order_axes<rank>(reduced, along_kept ? detail::last_kept_axis(axes, result_extents) : -1);
  const auto program = node.operand().template lower<FirstSlot>(broadcast_map(ordered_map(order.axis_of), extents));
  reduction_program<typename Reduction::monoid, typename Reduction::operand_element, (slot_count<Reduction> > 1), rank,
                    std::remove_const_t<decltype(program)>>
      result{detail::space_of(order, axes, along_kept, extents, result_extents), program};
  merge_axes(result.extents, order.kept, along_kept ? rank - 1 : rank, result.program);
  return result;
}

namespace detail {

/// All types of some tuples, one after another.
template <class... Tuples>
struct joined {
  using type = tuple<>;
};
template <class... Ts>
struct joined<tuple<Ts...>> {
  using type = tuple<Ts...>;
};
template <class... Left, class... Right, class... Rest>
struct joined<tuple<Left...>, tuple<Right...>, Rest...> : joined<tuple<Left..., Right...>, Rest...> {};

template <class E, class Operands = operands_of<E>>
struct pointers_to_reductions;
template <class E, class... Operands>
struct pointers_to_reductions<E, tuple<Operands...>>
    : joined<typename pointers_to_reductions<Operands>::type...,
             std::conditional_t<std::is_same_v<typename E::kind, reduction_kind>, tuple<const E*>, tuple<>>> {};

template <int... I, class... Operands>
void find_reductions_of(const tuple_base<std::integer_sequence<int, I...>, Operands...>& operands, const void**& next);

/// Writes the places of an expression's reductions from `next` on, in post order.
template <class E>
void find_reductions(const E& node, const void**& next) {
  constexpr bool is_reduction = std::is_same_v<typename E::kind, reduction_kind>;
  if constexpr (slot_count<E> > (is_reduction ? 1 : 0)) find_reductions_of(node.operands, next);
  if constexpr (is_reduction) *next++ = &node;
}
template <int... I, class... Operands>
void find_reductions_of(const tuple_base<std::integer_sequence<int, I...>, Operands...>& operands, const void**& next) {
  (find_reductions(static_cast<const tuple_element<I, Operands>&>(operands).value, next), ...);
}

template <int... I, class... Pointers>
void set_pointers(tuple_base<std::integer_sequence<int, I...>, Pointers...>& pointers, const void* const* found) {
  ((static_cast<tuple_element<I, Pointers>&>(pointers).value = static_cast<Pointers>(found[I])), ...);
}

}  // namespace detail

/// A tuple of pointers to the reductions of an expression.
template <class E>
using reduction_pointers = typename detail::pointers_to_reductions<E>::type;

/// Pointers to the reductions of an expression in post order, the order of their slots.
template <class E>
reduction_pointers<E> reductions_of(const E& node) {
  const void* found[slot_count<E> + 1];
  const void** next = found;
  detail::find_reductions(node, next);
  reduction_pointers<E> result;
  detail::set_pointers(result, found);
  return result;
}

namespace detail {
template <int Rank, int... I, class... Reductions>
auto lower_all(const tuple_base<std::integer_sequence<int, I...>, const Reductions*...>& reductions,
               const array<index, Rank>& extents, const array<bool, sizeof...(I)>& along_kept) {
  return make_tuple_of(lower_reduction<I + 1 - slot_count<Reductions>>(*get<I>(reductions), extents, along_kept[I])...);
}
}  // namespace detail

/// Lowers the reductions of a statement whose result has `extents`, in the order of their slots. It holds no
/// contractions.
template <class E, int Rank>
auto lower_reductions(const E& node, const array<index, Rank>& extents,
                      const array<bool, reduction_pointers<E>::count>& along_kept = {}) {
  return detail::lower_all(reductions_of(node), extents, along_kept);
}

namespace detail {

/// The first axis from which on, up to `last`, the axes of a result are one for all that is listed; not before `first`.
/// `place_of` says where they lie in the iteration space of what is listed; -1 where it has no such axis.
template <int Rank, int Places>
int first_of_line(const array<index, Rank>& extents, int first, int last, const array<int, Rank>& place_of,
                  const stride_list<Places>& list) {
  if (list.count > stride_list<Places>::capacity) return last;
  const int inner = place_of[last];
  index length = extents[last];
  for (int axis = last - 1; axis >= first; --axis) {
    const int outer = place_of[axis];
    if (extents[axis] == 1) continue;
    if ((outer < 0) != (inner < 0) || (inner >= 0 && !list.merge(outer, inner, length))) return axis + 1;
    length *= extents[axis];
  }
  return first;
}

/// The same for a reduction that is lowered with all kept axes in front.
template <int Rank, class Fold>
int first_of_line(const array<index, Rank>& extents, int first, int last, Fold fold) {
  auto place_of = filled_array<Rank>(-1);
  for (int place = 0; place < fold.kept; ++place) place_of[fold.in_result[place]] = place;
  stride_list<Fold::rank> list;
  fold.program.visit(list);
  return first_of_line(extents, first, last, place_of, list);
}

}  // namespace detail

/// The extents of a statement's result once the last axis that moves has taken up those before it that it goes on from
/// in memory, in all that the statement reads and writes; their extents become 1. So the windows of a table's rows,
/// each beginning a row further on, have one long line of results. `program` and `target` come in order of the axes.
template <int Rank, class Target, class Program, class... Folds>
array<index, Rank> with_one_line(array<index, Rank> extents, Target target, Program program,
                                 const tuple<Folds...>& folds) {
  const int last = last_moving_axis(extents, Rank);
  array<int, Rank> own{};
  for (int axis = 0; axis < Rank; ++axis) own[axis] = axis;
  stride_list<Rank> list;
  target.visit(list);
  program.visit(list);
  int first = detail::first_of_line(extents, 0, last, own, list);
  apply_tuple([&](const auto&... fold) { ((first = detail::first_of_line(extents, first, last, fold)), ...); }, folds);
  for (int axis = first; axis < last; ++axis) extents[last] *= extents[axis], extents[axis] = 1;
  return extents;
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

}  // namespace detail
}  // namespace tenon
