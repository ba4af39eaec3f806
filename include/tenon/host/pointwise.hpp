// tenon/host/pointwise.hpp: pointwise statements on the CPU.
// The type of a statement gives one loop along a row. tiles.hpp finds the rows and shares them, for all types.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstring>
#include <tenon/host/listed.hpp>
#include <tenon/plan/joint.hpp>
#include <tenon/plan/stages.hpp>

namespace tenon {

namespace detail {

template <class T, int Rank>
listed_target<listed_rank<Rank>> listed(const strided_target<T, Rank>& target) {
  return {reinterpret_cast<std::byte*>(target.data), with_listed_axes(target.stride, 0),
          &simd::copies_of<T, (Rank > 1)>};
}

/// The targets of a statement as a list, and the row of elements that they are.
template <class T, int Rank>
array<listed_target<listed_rank<Rank>>, 1> list_targets(const strided_target<T, Rank>& target) {
  return {{listed(target)}};
}
template <class T, int Rank>
target_run<T> row_at(const strided_target<T, Rank>*, void* const* to, bool streaming) {
  return {static_cast<T*>(*to), 1, streaming};
}
template <int Rank, class... Ts>
auto list_targets(const joint_target<Rank, Ts...>& target) {
  using listed_type = array<listed_target<listed_rank<Rank>>, sizeof...(Ts)>;
  return apply_tuple([](const auto&... each) { return listed_type{{listed(each)...}}; }, target.targets);
}
template <int Rank, class... Ts>
joint_run<Ts...> row_at(const joint_target<Rank, Ts...>*, void* const* to, bool) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return joint_run<Ts...>{{{{target_run<Ts>{static_cast<Ts*>(to[I])}}...}}};
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Ts))>{});
}

/// What a list does not say of a statement: how a row is written, and where its cursor keeps the sources.
template <class Target, class Cursor>
struct statement_row {
  static_assert(detail::is_copied_as_bytes<Cursor>, "tenon: functions in expressions must be trivially copyable");

  static void find_fields(void* cursor, cursor_field* fields) {
    field_lister list{fields};
    visit_elements(*static_cast<Cursor*>(cursor), list);
  }
  static void write(const void* cursor, void* const* to, index count, bool streaming) {
    write_run<reading::row>(row_at(static_cast<const Target*>(nullptr), to, streaming), {{0, count}},
                            *static_cast<const Cursor*>(cursor), no_slots{});
  }
};

/// Whether a statement copies elements as they are.
template <class Target, class Program>
inline constexpr bool is_plain_copy = false;
template <class T, int Rank>
inline constexpr bool is_plain_copy<strided_target<T, Rank>, strided_source<T, Rank>> = true;

/// A statement with room for its list.
template <int Rank, class Target, class Program>
class listed_statement {
 public:
  listed_statement(const array<index, Rank>& extents, const Target& target, Program program)
      : targets_(list_targets(target)), cursor_(program.at(array<index, Rank>{})) {
    program.visit(source_lister<Rank>{sources_});
    statement_ = {with_listed_axes(extents, 1), sources_, targets_.begin(), &cursor_, &facts, target.streaming};
  }
  any_statement<listed_rank<Rank>>& operator*() { return statement_; }

 private:
  using cursor_type = decltype(std::declval<const Program&>().at(array<index, Rank>{}));
  using row = statement_row<Target, cursor_type>;
  using targets_type = decltype(list_targets(std::declval<const Target&>()));
  static constexpr listed_facts facts{Rank,
                                      source_count<Program>,
                                      targets_type::size(),
                                      sizeof(cursor_type),
                                      &row::find_fields,
                                      &row::write,
                                      simd::width_for(cursor_type::widest) > 1,
                                      is_plain_copy<Target, Program>};
  listed_source<listed_rank<Rank>> sources_[source_count<Program> + 1];
  targets_type targets_;
  cursor_type cursor_;
  any_statement<listed_rank<Rank>> statement_;
};

/// Whether a statement copies elements in runs, from places that it computes: taken rows, rolled ones, padded images.
template <class Target, class Program>
inline constexpr bool copies_runs = false;
template <class T, int Rank, class Program>
  requires(Rank > 0 &&
           requires(const Program& program) {
             program.at(array<index, Rank>{}).run_length(0, 0);
             { program.at(array<index, Rank>{}).operand_from(0) } -> std::same_as<strided_cursor<T>>;
           })
inline constexpr bool copies_runs<strided_target<T, Rank>, Program> = true;

/// Calls `body(position)` for the first position of each row, whose positions are `block` elements, in one launch that
/// threads share.
template <int Rank, class Body>
void for_each_row(const array<index, Rank>& extents, index block, const Body& body) {
  const counted_launch counted("pointwise");
  const index rows = count_between(extents, 0, Rank - 1);
  parallel_for(rows, 1 + pointwise_grain / (extents[Rank - 1] * block + 16), [&](index first, index last) {
    array<index, Rank> position{};
    set_position(position, extents, 0, Rank - 1, first);
    const Body own = body;  // what the loop reads is its own: stores cannot change it
    for (index row = first; row < last; ++row, advance_position(position, extents, 0, Rank - 1)) own(position);
  });
}

/// Copies each row run by run, where its elements lie side by side on both sides: nothing of one row waits for the one
/// before, as it does where a cursor in memory goes from row to row. Axes at the end that stay as they are, as channels
/// of an image, are part of the elements that are copied. Long rows that pass the caches are left to others.
template <class T, int Rank, class Program>
bool copy_runs(array<index, Rank> extents, strided_target<T, Rank> target, Program program) {
  constexpr int last = Rank - 1;
  const auto& strides = program.operand.stride;
  const int ahead = program.positions.start.size() - Rank, in_operand = strides.size() - Rank;
  const bool are_beside = program.steps_along(last) && target.step() == 1 && strides[last + in_operand] == 1;
  if (count_between(extents, 0, Rank) < 2 || !are_beside) return false;
  int axis = last;
  index block = 1;
  const auto is_block = [&](index size) {  // whether elements so far apart are neighbours along the axis before
    return axis > 0 && axis + in_operand > 0 && program.steps_along(axis - 1) && target.stride[axis - 1] == size &&
           strides[axis - 1 + in_operand] == size && size * extents[axis - 1] <= pointwise_grain;
  };
  const auto stays = [&] {
    return program.map.run_length(program.positions.start[axis + ahead], axis + ahead) >= extents[axis];
  };
  while (is_block(block * extents[axis]) && stays()) block *= extents[axis--];
  if (block == 1 && target.streaming && extents[last] * static_cast<index>(sizeof(T)) >= 4096) return false;
  for (int whole = axis + 1; whole < Rank; ++whole) extents[whole] = 1;
  const auto exchange = [&](auto& stride, const auto&) { std::swap(stride[axis], stride[last]); };
  program.visit(exchange), target.visit(exchange), std::swap(extents[axis], extents[last]);
  const index length = extents[last];
  for_each_row(extents, block,
               [=, along = axis + ahead](const array<index, Rank>& position) __attribute__((always_inline)) {
                 const auto cursor = program.at(position);
                 T* const to = target.at(position);
                 for (index i = 0, end = 0; i < length; i = end) {
                   const index run = cursor.run_length(i, along);
                   end = run < length - i ? i + run : length;
                   const index count = (end - i) * block;
                   if (cursor.is_inside(i)) {
                     std::memmove(static_cast<void*>(to + i * block), cursor.operand_from(i).data,
                                  static_cast<std::size_t>(count) * sizeof(T));
                   } else {
                     const T outside = static_cast<T>(cursor.value(i, no_slots{}));
                     for (index each = 0; each < count; ++each) to[i * block + each] = outside;
                   }
                 }
               });
  return true;
}

/// Whether a statement reads runs from places that it computes for each row, and writes to one target.
template <class Target, class Cursor>
inline constexpr bool reads_runs = false;
template <class T, int Rank, class Cursor>
  requires(Rank > 1 && has_runs<Cursor> && write_width<T, Cursor> > 1)
inline constexpr bool reads_runs<strided_target<T, Rank>, Cursor> = true;

/// Writes short rows, as those of nodes at the edges of a graph, with a cursor of its own for each: the call for a row
/// of a tile, and its cursor in memory, would take longer than the row.
template <class T, int Rank, class Program>
bool write_short_rows(const array<index, Rank>& extents, const strided_target<T, Rank>& target,
                      const Program& program) {
  const index length = extents[Rank - 1];
  if (length < 2 || length > joined_columns || target.step() != 1) return false;
  if (!lies_in_runs(program.at(array<index, Rank>{}))) return false;
  for_each_row(extents, 1, [=](const array<index, Rank>& position) __attribute__((always_inline)) {
    const auto cursor = program.at(position);
    constexpr int width = write_width<T, decltype(cursor)>;
    T* const to = target.at(position);
    index i = 0;
    for (; i + width <= length; i += width) {
      simd::store<width>(to + i, cursor.template pack<width>(i, whole_access<reading::strided>{}, no_slots{}));
    }
    if (i < length) write_rest<reading::strided>(to, i, length, cursor, no_slots{});
  });
  return true;
}

}  // namespace detail

/// Evaluates a program over `extents` into its target, which may be several.
template <int Rank, class Target, class Program>
void run_pointwise_host(const array<index, Rank>& extents, const Target& target, const Program& program) {
  if constexpr (detail::copies_runs<Target, Program>) {
    if (detail::copy_runs(extents, target, program)) return;
  } else if constexpr (detail::reads_runs<Target, decltype(program.at(extents))>) {
    if (detail::write_short_rows(extents, target, program)) return;
  }
  detail::listed_statement<Rank, Target, Program> statement(extents, target, program);
  detail::run_tiles(*statement);
}

/// Evaluates a program over its `own` extents into a target of `extents`, over which it may repeat. Where it would read
/// elements that it has already written, it goes by way of a temporary.
template <class T, int Rank, class Program>
[[gnu::noinline]] void run_statement_host(array<index, Rank> extents, strided_target<T, Rank> target,
                                          array<index, Rank> own, Program program, bool may_alias,
                                          const node_words& words) {
  detail::listed_statement<Rank, strided_target<T, Rank>, Program> statement(own, target, program);
  if constexpr (Rank > 1 && computes_from_positions<Program>) {
    if (extents == own && detail::needs_cursors_of_rows(*statement) &&
        detail::write_short_rows(extents, target, program)) {
      return;
    }
  }
  const array<index, detail::listed_rank<Rank>> own_axes = detail::with_listed_axes(extents, 1);
  detail::run_observed(*statement, detail::listed(target), own_axes, may_alias, {dtype_name<T>(), words});
}

}  // namespace tenon
