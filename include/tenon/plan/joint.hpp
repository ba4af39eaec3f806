// tenon/plan/joint.hpp: several statements as one, whose element is the tuple of theirs.
// A node that yields all values together and a target that stores each in its own place: executors see one statement.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/packet.hpp>
#include <tenon/expr/views/broadcast.hpp>
#include <tenon/plan/alias.hpp>
#include <tenon/plan/iterate.hpp>
#include <tenon/plan/write.hpp>

namespace tenon {

/// Programs that are evaluated together.
template <class... Programs>
struct joint_program {
  using positions = std::make_integer_sequence<int, static_cast<int>(sizeof...(Programs))>;
  static constexpr int source_count = (0 + ... + tenon::source_count<Programs>);
  static constexpr int element_bytes = greatest_size({tenon::element_bytes<Programs>...});
  static constexpr bool visits_all_reads = (tenon::visits_all_reads<Programs> && ...);
  tuple<Programs...> programs;

  template <class... Cursors>
  struct cursor_of {
    static constexpr int widest = greatest_size({Cursors::widest...});
    tuple<Cursors...> cursors;

    bool is_adjacent() const {
      return apply_tuple([](const auto&... cursor) { return (cursor.is_adjacent() && ...); }, cursors);
    }
    template <class Slots>
    TENON_HOST_DEVICE TENON_INLINE auto value(index i, const Slots& slots) const {
      return values_of(i, slots, positions{});
    }
    template <int Width, class Access, class Slots>
    TENON_INLINE auto pack(index i, Access access, const Slots& slots) const {
      return apply_tuple(
          [&](const auto&... cursor) { return make_tuple_of(cursor.template pack<Width>(i, access, slots)...); },
          cursors);
    }
    template <class Slots>
    TENON_HOST_DEVICE TENON_INLINE auto with_slots(const Slots& slots) const {
      return bind_all_slots(slots, positions{});
    }

    /// What each cursor fetches, one after the other.
    template <int Size, class Reader>
    TENON_HOST_DEVICE TENON_INLINE auto fetch(Reader& reader) const {
      return fetch_all<Size>(reader, positions{});
    }
    template <class Visitor>
    void visit(Visitor& visitor) {
      apply_tuple([&](auto&... cursor) { (tenon::visit_elements(cursor, visitor), ...); }, cursors);
    }

   private:
    template <int Size, class Reader, int... I>
    TENON_HOST_DEVICE TENON_INLINE auto fetch_all(Reader& reader, std::integer_sequence<int, I...>) const {
      return tuple<decltype(tenon::fetch<Size>(get<I>(cursors), reader))...>{
          {{tenon::fetch<Size>(get<I>(cursors), reader)}...}};  // in order, which arguments of a call are not
    }
    template <class Slots, int... I>
    TENON_HOST_DEVICE TENON_INLINE auto bind_all_slots(const Slots& slots, std::integer_sequence<int, I...>) const {
      return cursor_of<decltype(bind_slots(get<I>(cursors), slots))...>{
          make_tuple_of(bind_slots(get<I>(cursors), slots)...)};
    }
    template <class Slots, int... I>
    TENON_HOST_DEVICE TENON_INLINE auto values_of(index i, const Slots& slots, std::integer_sequence<int, I...>) const {
      return make_tuple_of(get<I>(cursors).value(i, slots)...);
    }
  };

  template <int Rank>
  TENON_HOST_DEVICE TENON_INLINE auto at(const array<index, Rank>& position) const {
    return cursor_at(position, positions{});
  }
  template <class Visitor>
  constexpr void visit(Visitor&& visitor) {
    apply_tuple([&](auto&... program) { (program.visit(visitor), ...); }, programs);
  }

 private:
  template <int Rank, int... I>
  TENON_HOST_DEVICE TENON_INLINE auto cursor_at(const array<index, Rank>& position,
                                                std::integer_sequence<int, I...>) const {
    return cursor_of<decltype(get<I>(programs).at(position))...>{make_tuple_of(get<I>(programs).at(position)...)};
  }
};

/// Expressions of one rank as one statement; those with extents of 1 repeat.
template <class... Nodes>
struct joint {
  using kind = pointwise_kind;
  using space = typename first_space<typename Nodes::space...>::type;
  using shape_type = broadcast_shape<typename Nodes::shape_type...>;

  tuple<Nodes...> operands;
  shape_type extents;

  const shape_type& shape() const { return extents; }
  /// This node on other operands of the same extents.
  template <class... Others>
  auto with_operands(const tuple<Others...>& others) const {
    return joint<Others...>{others, typename joint<Others...>::shape_type(extents)};
  }

  template <int FirstSlot, int Outer>
  auto lower(const axis_map<shape_type::rank, Outer>& map) const {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return program_of(make_tuple_of(get<I>(operands).template lower<detail::first_slot_of<FirstSlot, I, Nodes...>()>(
          broadcast_map(map, get<I>(operands).shape().to_array()))...));
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Nodes))>{});
  }

 private:
  template <class... Programs>
  static joint_program<Programs...> program_of(const tuple<Programs...>& programs) {
    return {programs};
  }
};

/// Where the results of a row of several statements go.
template <class... Ts>
struct joint_run {
  tuple<target_run<Ts>...> runs;  // without data where nothing is stored
};

/// Where packets of the results of several statements go, or the one result of a row that is not stored as it is.
template <class... Ts>
struct joint_elements {
  tuple<Ts*...> to;                                          // null where nothing is stored
  array<bool, static_cast<int>(sizeof...(Ts))> is_of_row{};  // whether one result stands for the row
};

/// Where the results of several statements go. One of fewer elements has strides of 0 along the axes that it lacks, and
/// is stored at their first position alone: there it was computed before anything was stored.
template <int Rank, class... Ts>
struct joint_target {
  static constexpr bool streaming = false;
  using positions = std::make_integer_sequence<int, static_cast<int>(sizeof...(Ts))>;
  tuple<strided_target<Ts, Rank>...> targets;

  template <class Values>
  TENON_HOST_DEVICE void store(const array<index, Rank>& position, const Values& values) const {
    store_each(position, values, positions{});
  }
  joint_run<Ts...> run_along(const array<index, Rank>& position, int axis) const {
    return apply_tuple(
        [&](const auto&... target) { return joint_run<Ts...>{make_tuple_of(run_of(target, position, axis)...)}; },
        targets);
  }
  joint_run<Ts...> run_at(const array<index, Rank>& position) const { return run_along(position, Rank - 1); }
  TENON_HOST_DEVICE joint_elements<Ts...> at(const array<index, Rank>& position) const {
    return elements_at(position, positions{});
  }
  template <class Visitor>
  constexpr void visit(Visitor&& visitor) {
    apply_tuple([&](auto&... target) { (target.visit(visitor), ...); }, targets);
  }

 private:
  template <int... I>
  TENON_HOST_DEVICE joint_elements<Ts...> elements_at(const array<index, Rank>& position,
                                                      std::integer_sequence<int, I...>) const {
    return {{{{is_stored(get<I>(targets).stride, position) ? get<I>(targets).at(position) : nullptr}...}},
            {{(get<I>(targets).stride[Rank - 1] == 0)...}}};
  }
  TENON_HOST_DEVICE static constexpr bool is_stored(const array<index, Rank>& stride,
                                                    const array<index, Rank>& position) {
    bool result = true;
    for (int axis = 0; axis < Rank; ++axis) result = result && (stride[axis] != 0 || position[axis] == 0);
    return result;
  }
  template <class T>
  static target_run<T> run_of(const strided_target<T, Rank>& target, const array<index, Rank>& position, int axis) {
    if (!is_stored(target.stride, position)) return {nullptr};
    return target.run_along(position, axis);
  }
  template <class Values, int... I>
  TENON_HOST_DEVICE void store_each(const array<index, Rank>& position, const Values& values,
                                    std::integer_sequence<int, I...>) const {
    ((is_stored(get<I>(targets).stride, position) ? get<I>(targets).store(position, get<I>(values)) : void()), ...);
  }
};

namespace detail {

/// Values of a run that are not side by side in memory, on their way there.
template <class T>
struct run_buffer {
  static constexpr index size = 256;
  T values[size];

  /// Where the values of the positions from `begin` on are written.
  T* place(const target_run<T>& run, index begin) {
    return run.data != nullptr && run.step == 1 ? run.data : numbered_from(values, begin);
  }
  /// Stores what was written for the positions `begin` to `end` - 1; of a run that stays, the very first.
  void store(const target_run<T>& run, index begin, index end) const {
    if (run.data == nullptr || run.step == 1) return;
    if (run.step == 0) end = begin == 0 && end != 0 ? 1 : begin;
    for (index i = begin; i < end; ++i) run.data[i * run.step] = values[i - begin];
  }
};

/// As write_run to the elements at `to`, which lie side by side.
template <reading How, class... Ts, class Cursor, class Slots>
TENON_INLINE void write_beside(const tuple<Ts*...>& to, const array<index, 2>& part, const Cursor& cursor,
                               const Slots& slots) {
  constexpr int width = simd::width_for(Cursor::widest);
  index i = part[0];
  if constexpr (width > 1) {
    for (; i + width <= part[1]; i += width) {
      const auto packs = cursor.template pack<width>(i, whole_access<How>{}, slots);
      for_each_index<sizeof...(Ts)>([&](auto k) { simd::store<width>(get<k.value>(to) + i, get<k.value>(packs)); });
    }
  }
  for (; i < part[1]; ++i) {
    const auto values = cursor.value(i, slots);
    for_each_index<sizeof...(Ts)>([&](auto k) { simd::store<1>(get<k.value>(to) + i, get<k.value>(values)); });
  }
}

}  // namespace detail

namespace detail {

template <int Size, class T, class Cursor, class Fetched>
TENON_HOST_DEVICE TENON_INLINE void write_joint_part(T* to, bool is_of_row, const Cursor& cursor,
                                                     const Fetched& fetched) {
  if (to == nullptr) return;
  if (is_of_row) *to = static_cast<T>(value_from(cursor, fetched, 0));
  else write_packet<Size>(to, cursor, fetched);
}
template <int Size, class... Ts, class Cursor, class Fetched, int... I>
TENON_HOST_DEVICE TENON_INLINE void write_joint_parts(const joint_elements<Ts...>& elements, const Cursor& cursor,
                                                      const Fetched& fetched, std::integer_sequence<int, I...>) {
  (write_joint_part<Size>(get<I>(elements.to), elements.is_of_row[I], get<I>(cursor.cursors), get<I>(fetched)), ...);
}

}  // namespace detail

/// As write_packet of one target: all that the statements read of a packet has been fetched.
template <int Size, class... Ts, class Cursor, class Fetched>
TENON_HOST_DEVICE TENON_INLINE void write_packet(const joint_elements<Ts...>& elements, const Cursor& cursor,
                                                 const Fetched& fetched) {
  detail::write_joint_parts<Size>(elements, cursor, fetched,
                                  std::make_integer_sequence<int, static_cast<int>(sizeof...(Ts))>{});
}

/// As write_run of one target: all values of a position are computed before any is stored.
template <reading How, class... Ts, class Cursor, class Slots>
TENON_INLINE void write_run(const joint_run<Ts...>& target, const array<index, 2>& part, const Cursor& shared_cursor,
                            const Slots& slots) {
  detail::loop_constant<Cursor> cursor = shared_cursor;
  constexpr index size = detail::run_buffer<char>::size;
  const bool beside =
      apply_tuple([](const auto&... run) { return ((run.data != nullptr && run.step == 1) && ...); }, target.runs);
  tuple<detail::run_buffer<Ts>...> buffers;
  for (index begin = part[0], end = begin; begin < part[1]; begin = end) {
    end = beside || part[1] - begin <= size ? part[1] : begin + size;
    const auto to = apply_tuple(
        [&](const auto&... run) {
          return apply_tuple([&](auto&... buffer) { return make_tuple_of(buffer.place(run, begin)...); }, buffers);
        },
        target.runs);
    detail::write_beside<How>(to, {{begin, end}}, cursor, slots);
    for_each_index<sizeof...(Ts)>([&](auto k) { get<k.value>(buffers).store(get<k.value>(target.runs), begin, end); });
  }
}

namespace detail {

/// The extents of several outputs together. All have them, but that outputs of rows, which are the axes from `row_axis`
/// on, may hold one element a row.
template <int Rank, int Count>
array<index, Rank> joint_extents(const array<array<index, Rank>, Count>& outputs, int row_axis) {
  array<index, Rank> result = outputs[0];
  for (const auto& extents : outputs) {
    for (int axis = 0; axis < Rank; ++axis) result[axis] = extents[axis] == 1 ? result[axis] : extents[axis];
  }
  for (const auto& extents : outputs) {
    const int compared = count_between(extents, row_axis, Rank) == 1 ? row_axis : Rank;
    for (int axis = 0; axis < compared; ++axis) {
      if (extents[axis] == result[axis]) continue;
      throw shape_error(compose_text("evaluate: axis ", axis, ": extent ", extents[axis], ", expected ", result[axis],
                                     " as of another output (", extents, " with ", result, ")"));
    }
  }
  return result;
}

template <class... Assignments>
constexpr bool ranks_agree() {
  const int ranks[] = {decltype(Assignments::destination)::rank...};
  for (const int rank : ranks) {
    if (rank != ranks[0]) return false;
  }
  return true;
}

/// Whether assignments of equal axes are one statement.
template <class... Assignments>
constexpr bool are_joint() {
  constexpr stage form = stage_of<joint<decltype(Assignments::node)...>>();
  return form == stage::pointwise || form == stage::reduce || form == stage::rows;
}

/// An output of a joint statement without its types.
template <int Rank>
struct joint_output {
  strided_block<Rank> destination;
  any_node node;
};

/// The bytes that a joint statement writes.
template <int Rank, int Count>
index count_bytes(const array<joint_output<Rank>, Count>& outputs) {
  index bytes = 0;
  for (const auto& each : outputs) bytes += count_between(each.destination.extents, 0, Rank) * each.destination.size;
  return bytes;
}

/// Whether some output would be stored before the statement `node` over `extents` has read its elements: because they
/// are read at another position, or, where an output has one element a row, by another output's expression or by other
/// threads of that row.
template <int Rank, int Count>
bool overwrites_operands(const array<joint_output<Rank>, Count>& outputs, const array<index, Rank>& extents,
                         const any_node& node, bool on_host) {
  for (const auto& written : outputs) {
    if (written.destination.extents == extents) {
      if (reads_of(written.destination, node).elsewhere) return true;
      continue;
    }
    for (const auto& other : outputs) {
      const auto found = reads_of(written.destination, other.node);
      const bool is_alone = on_host && &other == &written;
      if (is_alone ? found.elsewhere : found.any) return true;
    }
  }
  return false;
}

}  // namespace detail
/// One output of a statement with several.
template <class View, class Node>
struct assignment {
  View destination;
  Node node;
};

namespace detail {

/// An expression of fewer or unit extents repeats over the destination; any other difference is an error.
template <class Destination, class Shape>
void check_repeats(const Destination& destination, const Shape& shape) {
  const auto given = destination.to_array();
  const auto own = shape.to_array();
  check_repeats(extents_view{given.begin(), Destination::rank}, extents_view{own.begin(), Shape::rank});
}

/// An assignment whose destination has the axes of its expression, which equals it or repeats over it.
template <class View, class Node>
auto with_equal_axes(const assignment<View, Node>& each) {
  using node_shape = typename Node::shape_type;
  static_assert(ranks_fit<typename View::shape_type, node_shape>() || must_hold<typename View::shape_type, node_shape>,
                "tenon: the destination has fewer axes than the expression");
  if constexpr (node_shape::rank > View::rank) {
    const auto destination = insert_unit_axes<node_shape>(each.destination);
    return with_equal_axes(assignment<std::remove_const_t<decltype(destination)>, Node>{destination, each.node});
  } else if constexpr (node_shape::rank < View::rank) {
    check_repeats(each.destination.shape(), each.node.shape());
    const auto node = broadcast_to(each.node, each.destination.shape());
    return assignment<View, std::remove_const_t<decltype(node)>>{each.destination, node};
  } else {
    check_repeats(each.destination.shape(), each.node.shape());
    return each;
  }
}

/// The target of an output of a statement over `extents`.
template <class T, class Shape, class Space>
auto make_joint_target(const view<T, Shape, Space>& destination, const array<index, Shape::rank>& extents) {
  auto target = make_target(destination);
  for (int axis = 0; axis < Shape::rank; ++axis) {
    if (destination.extent(axis) != extents[axis]) target.stride[axis] = 0;
  }
  return target;
}

}  // namespace detail
}  // namespace tenon
