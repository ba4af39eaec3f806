// tenon/host/pointwise.hpp: pointwise statements on the CPU.
// What a statement's type knows is one loop along a row; where rows are and who does them, tiles.hpp finds for all.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/host/tiles.hpp>

namespace tenon {

namespace detail {

template <class Ts, class Cursors>
inline constexpr int joint_width = 1;
template <class... Ts, class... Cursors>
inline constexpr int joint_width<tuple<Ts...>, tuple<Cursors...>> =
    simd::width_for(greatest_size({simd::lane_bytes<Ts>..., Cursors::widest...}));

/// Writes `count` positions of several cursors: all values of a position are computed before any is stored.
template <class... Ts, class... Cursors>
void write_joint_row(const tuple<Ts*...>& to, index count, const tuple<Cursors...>& cursors) {
  constexpr int width = joint_width<tuple<Ts...>, tuple<Cursors...>>;
  index i = 0;
  if constexpr (width > 1) {
    for (; i + width <= count; i += width) {
      const auto packs = apply_tuple(
          [&](const auto&... cursor) {
            return make_tuple_of(cursor.template pack<width>(i, whole_access<reading::row>{}, no_slots{})...);
          },
          cursors);
      for_each_index<sizeof...(Ts)>([&](auto k) { simd::store<width>(get<k.value>(to) + i, get<k.value>(packs)); });
    }
  }
  for (; i < count; ++i) {
    const auto values =
        apply_tuple([&](const auto&... cursor) { return make_tuple_of(cursor.value(i, no_slots{})...); }, cursors);
    for_each_index<sizeof...(Ts)>([&](auto k) {
      auto& element = get<k.value>(to)[i];
      element = static_cast<std::remove_reference_t<decltype(element)>>(get<k.value>(values));
    });
  }
}

/// The row of a statement with one output, as any_statement calls it.
template <class T, class Cursor>
struct single_row {
  static constexpr bool in_packs = write_width<T, Cursor> > 1;

  static void find_words(void* cursor, cursor_word* words) {
    word_lister list{words};
    visit_elements(*static_cast<Cursor*>(cursor), list);
  }
  static void write(const void* cursor, void* const* to, index count, bool streaming) {
    write_run<reading::row>(target_run<T>{static_cast<T*>(*to), 1, streaming}, {{0, count}},
                            *static_cast<const Cursor*>(cursor), no_slots{});
  }
};

/// The same of several outputs.
template <class Ts, class Cursors>
struct joint_row;
template <class... Ts, class... Cursors>
struct joint_row<tuple<Ts...>, tuple<Cursors...>> {
  static constexpr bool in_packs = joint_width<tuple<Ts...>, tuple<Cursors...>> > 1;

  static void find_words(void* cursors, cursor_word* words) {
    word_lister list{words};
    apply_tuple([&](auto&... cursor) { (visit_elements(cursor, list), ...); },
                *static_cast<tuple<Cursors...>*>(cursors));
  }
  static void write(const void* cursors, void* const* to, index count, bool) {
    write_joint_row(pointers(to, std::make_integer_sequence<int, sizeof...(Ts)>{}), count,
                    *static_cast<const tuple<Cursors...>*>(cursors));
  }

 private:
  template <int... I>
  static tuple<Ts*...> pointers(void* const* to, std::integer_sequence<int, I...>) {
    return {{{static_cast<Ts*>(to[I])}...}};
  }
};

template <class T, int Rank>
listed_target<Rank> listed(const strided_target<T, Rank>& target) {
  return {reinterpret_cast<std::byte*>(target.data), target.stride, &simd::copies_of<T>};
}

/// A statement whose `Count` sources `visit` visits, with room for the list of them.
template <class Row, int Rank, int Count, class Cursor>
struct listed_statement {
  static_assert(std::is_trivially_copyable_v<Cursor>, "tenon: functions in expressions must be trivially copyable");
  listed_source<Rank> sources[Count + 1];
  any_statement<Rank> statement;

  template <class Visit>
  listed_statement(const array<index, Rank>& extents, listed_target<Rank>* targets, int target_count,
                   const Cursor& cursor, const Visit& visit)
      : statement{extents,        sources,          Count,       targets,       target_count, &cursor,
                  sizeof(cursor), &Row::find_words, &Row::write, Row::in_packs, false} {
    visit(source_lister<Rank>{sources});
  }
};

}  // namespace detail

/// Evaluates a program over `extents` into its target.
template <class T, int Rank, class Program>
void run_pointwise_host(const array<index, Rank>& extents, const strided_target<T, Rank>& target, Program program) {
  const auto cursor = program.at(array<index, Rank>{});
  using cursor_type = std::remove_const_t<decltype(cursor)>;
  using row = detail::single_row<T, cursor_type>;
  if constexpr (Rank == 0) {
    void* const to[] = {target.data};
    count_launch("pointwise");
    row::write(&cursor, to, 1, false);
  } else {
    auto listed = detail::listed(target);
    detail::listed_statement<row, Rank, source_count<Program>, cursor_type> whole(
        extents, &listed, 1, cursor, [&](auto&& visitor) { program.visit(visitor); });
    whole.statement.streaming = target.streaming;
    detail::run_tiles(whole.statement);
  }
}

namespace detail {

/// Runs a statement whose sources may lie in its destination, of `extents`, or repeat over it.
template <class T, int Rank>
[[gnu::noinline]] void run_checked(any_statement<Rank>& statement, const strided_target<T, Rank>& destination,
                                   const array<index, Rank>& extents, bool may_alias) {
  const index count = count_between(extents, 0, Rank), own_count = count_between(statement.extents, 0, Rank);
  if (count == 0) return;
  const auto found = reads_of_target(statement);
  const bool repeats = !(statement.extents == extents);
  if (!repeats && !(may_alias && found.elsewhere)) {
    statement.streaming = !found.reads && count * static_cast<index>(sizeof(T)) >= streaming_bytes;
    return run_tiles(statement);
  }
  storage<T, host> temporary(own_count);
  strided_source<T, Rank> copy{temporary.data(), row_major_strides(statement.extents)};
  *statement.targets = listed(strided_target<T, Rank>{temporary.data(), copy.stride});
  for (int axis = 0; axis < Rank; ++axis) copy.stride[axis] = statement.extents[axis] == 1 ? 0 : copy.stride[axis];
  run_tiles(statement);
  run_pointwise_host(extents, destination, copy);
}

}  // namespace detail

/// Evaluates a program over its `own` extents into a target of `extents`, over which it may repeat; by way of a
/// temporary where it reads there what it has already written.
template <class T, int Rank, class Program>
[[gnu::noinline]] void run_statement_host(const array<index, Rank>& extents, const strided_target<T, Rank>& target,
                                          const array<index, Rank>& own, Program program, bool may_alias) {
  const auto cursor = program.at(array<index, Rank>{});
  using cursor_type = std::remove_const_t<decltype(cursor)>;
  auto listed = detail::listed(target);
  detail::listed_statement<detail::single_row<T, cursor_type>, Rank, source_count<Program>, cursor_type> whole(
      own, &listed, 1, cursor, [&](auto&& visitor) { program.visit(visitor); });
  detail::run_checked(whole.statement, target, extents, may_alias);
}

/// Evaluates each of several programs over `extents` into its target, in one pass.
template <int Rank, class... Ts, class... Programs>
void run_joint_host(const array<index, Rank>& extents, const tuple<strided_target<Ts, Rank>...>& targets,
                    tuple<Programs...> programs) {
  const auto cursors =
      apply_tuple([](const auto&... program) { return make_tuple_of(program.at(array<index, Rank>{})...); }, programs);
  using cursors_type = std::remove_const_t<decltype(cursors)>;
  using row = detail::joint_row<tuple<Ts...>, cursors_type>;
  apply_tuple(
      [&](const auto&... target) {
        if constexpr (Rank == 0) {
          void* const to[] = {target.data...};
          count_launch("pointwise");
          row::write(&cursors, to, 1, false);
        } else {
          detail::listed_target<Rank> listed[] = {detail::listed(target)...};
          detail::listed_statement<row, Rank, (0 + ... + source_count<Programs>), cursors_type> whole(
              extents, listed, sizeof...(Ts), cursors,
              [&](auto&& visitor) { apply_tuple([&](auto&... program) { (program.visit(visitor), ...); }, programs); });
          detail::run_tiles(whole.statement);
        }
      },
      targets);
}

/// A short statement over elements that all lie in index order: no axes to merge, nothing to share among threads.
/// Returns false, and has done nothing, for any other. It is part of every statement, so it holds one loop alone.
template <class T, int Rank, class Program>
TENON_INLINE bool run_short_host(T* data, const array<index, Rank>& extents, const Program& program) {
  const index count = count_between(extents, 0, Rank);
  const auto cursor = program.at(array<index, Rank>{});
  if (count > detail::pointwise_chunk || !cursor.is_adjacent() || !reads_beside(cursor, data, count)) return false;
  if constexpr (Rank > 1) {
    if (!is_flat(program, extents)) return false;
  }
  count_launch("pointwise");
  constexpr int width = write_width<T, decltype(cursor)>;
  index i = 0;
  for (; i + width <= count; i += width) {
    simd::store<width>(data + i, cursor.template pack<width>(i, whole_access<reading::adjacent>{}, no_slots{}));
  }
  if (i < count) write_row<reading::row>(data, {{i, count}}, cursor, no_slots{});
  return true;
}

}  // namespace tenon
