// tenon/host/short_statements.hpp: pointwise statements over elements that all lie in index order, in the calling code.
// Each operand is asked whether it lies so, and gives the loop its address; axes are not mapped for that.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/host/pointwise.hpp>
#include <tenon/plan/boxes.hpp>

namespace tenon::detail {

/// The cursor of a node, of the type that the first argument names, for all positions of `extents` as one row. `holds`
/// becomes false where an operand has other extents, or does not lie in index order; then the cursor is not to be used.
template <class Cursor, class Node, int Rank>
TENON_INLINE Cursor cursor_in_order(const Cursor*, const Node& node, const array<index, Rank>& extents, bool& holds) {
  const auto program = lower_operand<0, typename Node::element>(identity_map<Rank>(), node);
  const auto cursor = program.at(array<index, Rank>{});
  if constexpr (Node::shape_type::rank != Rank) holds = false;
  else holds = holds && node.shape().to_array() == extents && is_flat(program, extents) && cursor.is_adjacent();
  return cursor;
}
template <class T, class Shape, class Space, class Owner, int Rank>
TENON_INLINE strided_cursor<T> cursor_in_order(const strided_cursor<T>*, const leaf<T, Shape, Space, Owner>& node,
                                               const array<index, Rank>& extents, bool& holds) {
  if constexpr (Shape::rank != Rank) holds = false;
  else holds = holds && node.shape().to_array() == extents && is_contiguous(extents, node.elements.strides());
  return {node.elements.data(), 1};
}
template <class Cursor, class T, int Rank>
TENON_INLINE Cursor cursor_in_order(const Cursor*, const scalar<T>& node, const array<index, Rank>&, bool&) {
  return {converted_to<decltype(Cursor::number)>(node.value)};
}
template <int... I, class Op, class Result, class Computes, class Values, class... Cursors, class... Operands, int Rank>
TENON_INLINE auto cursor_in_order(
    const operation_cursor<std::integer_sequence<int, I...>, Op, Result, Computes, Values, Cursors...>*,
    const pointwise<Op, Operands...>& node, const array<index, Rank>& extents, bool& holds) {
  return operation_cursor<std::integer_sequence<int, I...>, Op, Result, Computes, Values, Cursors...>{
      node.op,
      {{{cursor_in_order(static_cast<const Cursors*>(nullptr),
                         static_cast<const tuple_element<I, Operands>&>(node.operands).value, extents, holds)}...}}};
}

/// Whether the host runs a statement by its program alone, which says all that it reads.
template <class Space, class E>
inline constexpr bool runs_program = [] {
  if constexpr (TENON_CHECKED != 0 || !std::is_same_v<Space, host> || stage_of<E>() != stage::pointwise ||
                E::shape_type::rank == 0 || runs_in_boxes<Space, E>) {
    return false;
  } else {
    return visits_all_reads<decltype(std::declval<const E&>().template lower<0>(identity_map<E::shape_type::rank>()))>;
  }
}();

#pragma GCC diagnostic push  // g++ 12 does not see that the loop ends before a vector beyond a small tensor
#pragma GCC diagnostic ignored "-Warray-bounds"
/// A statement over elements that all lie in index order: no axes to merge, nothing to share among threads. For any
/// other, and where an observer wants to see the launch, it does nothing and returns false. Every statement contains
/// it, so it has a single loop, in which elements that the statement names twice are read once. What it asks is likely
/// to hold: compilers make the loop of a path that they take for rare as short as they can.
template <class T, class Shape, class E>
TENON_INLINE bool run_short_host(const view<T, Shape, host>& destination, const E& node) {
  constexpr int rank = Shape::rank;
  using cursor_type = decltype(node.template lower<0>(identity_map<rank>()).at(array<index, rank>{}));
  const auto extents = destination.shape().to_array();
  bool in_order = is_contiguous(extents, destination.strides());
  const auto cursor = cursor_in_order(static_cast<const cursor_type*>(nullptr), node, extents, in_order);
  const index count = count_between(extents, 0, rank);
  T* const data = destination.data();
  if (!in_order || !is_done_at_once<T, cost_of<cursor_type>>(count)) [[unlikely]]
    return false;
  if (!reads_disjoint_from(cursor, data, count) || current_launch_observer() != nullptr) [[unlikely]]
    return false;
  count_launch("pointwise");
  if constexpr (is_small_shape<Shape>()) {
    write_known<static_cast<int>(Shape{}.count())>(data, cursor, no_slots{});
  } else {
    constexpr int width = write_width<T, cursor_type>;
    index i = 0;
    for (; i + width <= count; i += width) {
      simd::store<width>(data + i, cursor.template pack<width>(i, whole_access<reading::adjacent>{}, no_slots{}));
    }
    if (i < count) write_rest<reading::adjacent>(data, i, count, cursor, no_slots{});
  }
  return true;
}
#pragma GCC diagnostic pop

/// Any other statement of the host whose program says all that it reads. Arguments are copies for this call, so that
/// the statement around it keeps its own in registers.
template <class T, int Rank, class E>
[[gnu::noinline]] void run_long_host(array<index, Rank> extents, strided_target<T, Rank> target, const E& node,
                                     aliasing alias) {
  run_statement_host(extents, target, node.shape().to_array(), node.template lower<0>(identity_map<Rank>()),
                     alias == aliasing::handled, words_of<E>::value);
}

/// A statement of the host whose program says all that it reads, into elements over which it may repeat. A short one
/// with everything side by side is done at once.
template <class T, class Shape, class E>
TENON_INLINE void evaluate_program(const view<T, Shape, host>& destination, const E& node, aliasing alias) {
  if constexpr (Shape::dynamic_rank != 0 || Shape{}.count() * static_cast<index>(sizeof(T)) < streaming_bytes) {
    if (run_short_host(destination, node)) [[likely]]
      return;
  }
  run_long_host(destination.shape().to_array(), make_target(destination), E(node), alias);
}

/// Several short statements over the same extents, of which all elements lie in index order, at once: values of all are
/// computed before one is stored. For any others it does nothing and returns false.
template <class... Views, class... Nodes>
bool run_short_joint(const assignment<Views, Nodes>&... each) {
  if constexpr ((runs_program<typename Views::space, Nodes> && ...)) {
    const auto extents = get<0>(make_tuple_of(each.node.shape().to_array()...));
    constexpr int rank = decltype(extents)::size();
    const index count = count_between(extents, 0, rank);
    const auto is_plain = [&](const auto& destination, const auto& node) {
      return destination.shape().to_array() == extents && node.shape().to_array() == extents &&
             is_contiguous(extents, destination.strides());
    };
    const bool is_short = (is_done_at_once<typename Views::element>(count) && ...);
    if (!is_short || !(is_plain(each.destination, each.node) && ...)) return false;
    const auto run = [&](const auto&... program) {
      const auto apart_from = [&](const auto& cursor) {
        return (reads_disjoint_from(cursor, each.destination.data(), count) && ...);
      };
      const auto write = [&](const auto&... cursor) {
        if (!((cursor.is_adjacent() && apart_from(cursor)) && ...)) return false;
        count_launch("pointwise");
        const typename joint_program<std::remove_cvref_t<decltype(program)>...>::template cursor_of<
            std::remove_cvref_t<decltype(cursor)>...>
            joined{make_tuple_of(cursor...)};
        write_beside<reading::adjacent>(make_tuple_of(each.destination.data()...), {{0, count}}, joined, no_slots{});
        return true;
      };
      return (is_flat(program, extents) && ...) && write(program.at(array<index, rank>{})...);
    };
    return current_launch_observer() == nullptr && run(each.node.template lower<0>(identity_map<rank>())...);
  } else {
    return false;
  }
}

}  // namespace tenon::detail
