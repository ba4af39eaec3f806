// tenon/host/pointwise.hpp: the loop of pointwise statements.
// Rows of the merged iteration space are shared among threads; along a row the programs yield packs of lanes.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/host/staging.hpp>

namespace tenon {

namespace detail {

/// Lanes that fit the widest type of several cursors.
template <class Cursors>
constexpr int widest_of() {
  return []<class... Each>(std::type_identity<tuple<Each...>>) {
    return simd::width_for(greatest_size({Each::widest...}));
  }(std::type_identity<Cursors>{});
}

/// As write_run for several outputs: all values of a position are computed before any is stored.
template <class T, class... Rest, class Cursors>
TENON_INLINE void write_runs(const tuple<T*, Rest*...>& data, bool adjacent,
                             const array<index, sizeof...(Rest) + 1>& step, const array<index, 2>& part,
                             const Cursors& cursors) {
  constexpr int width = widest_of<Cursors>();
  index i = part[0];
  const auto write_packs = [&](auto access) {
    for (; i + width <= part[1]; i += width) {
      const auto packs = apply_tuple(
          [&](const auto&... cursor) { return make_tuple_of(cursor.template pack<width>(i, access, no_slots{})...); },
          cursors);
      for_each_index<sizeof...(Rest) + 1>(
          [&](auto k) { simd::store<width>(get<k.value>(data) + i, get<k.value>(packs)); });
    }
  };
  if (adjacent) apply_tuple([&](const auto&... cursor) { with_access(write_packs, cursor...); }, cursors);
  for (; i < part[1]; ++i) {
    const auto values =
        apply_tuple([&](const auto&... cursor) { return make_tuple_of(cursor.value(i, no_slots{})...); }, cursors);
    for_each_index<sizeof...(Rest) + 1>([&](auto k) {
      auto& element = get<k.value>(data)[i * step[k.value]];
      element = static_cast<std::remove_reference_t<decltype(element)>>(get<k.value>(values));
    });
  }
}

}  // namespace detail

/// Evaluates a program over `extents` into its target.
template <int Rank, class Target, class Program>
void run_pointwise_host(const array<index, Rank>& extents, const Target& target, const Program& program) {
  struct statement {
    Target target;
    Program program;
    void visit(detail::source_list<Rank>& list) { list(target.stride), program.visit(list); }
    void write(const detail::row_block<Rank>& rows) const {
      rows.for_each([&](const array<index, Rank>& position) __attribute__((always_inline)) {
        write_run(target.run_at(position), rows.part, program.at(position), no_slots{});
      });
    }
  };
  statement whole{target, program};
  detail::run_statement(extents, whole);
}

/// Evaluates each of several programs over `extents` into its target, in one pass.
template <int Rank, class... Targets, class... Programs>
void run_joint_host(const array<index, Rank>& extents, const tuple<Targets...>& targets,
                    const tuple<Programs...>& programs) {
  struct statement {
    tuple<Targets...> targets;
    tuple<Programs...> programs;
    void visit(detail::source_list<Rank>& list) {
      apply_tuple([&](auto&... target) { (list(target.stride), ...); }, targets);
      apply_tuple([&](auto&... program) { (program.visit(list), ...); }, programs);
    }
    void write(const detail::row_block<Rank>& rows) const {
      constexpr int count = static_cast<int>(sizeof...(Targets));
      const array<index, count> steps =
          apply_tuple([](const auto&... target) { return array<index, count>{{target.step()...}}; }, targets);
      rows.for_each([&](const array<index, Rank>& position) __attribute__((always_inline)) {
        const auto cursors =
            apply_tuple([&](const auto&... program) { return make_tuple_of(program.at(position)...); }, programs);
        const auto data =
            apply_tuple([&](const auto&... target) { return make_tuple_of(target.at(position)...); }, targets);
        detail::write_runs(data, steps == filled_array<count>(index{1}), steps, rows.part, cursors);
      });
    }
  };
  statement whole{targets, programs};
  detail::run_statement(extents, whole);
}

/// A short statement over elements that all lie in index order: no axes to merge, nothing to share among threads.
/// Returns false, and has done nothing, for any other; it is part of every statement, so it holds one loop alone.
template <class T, int Rank, class Program>
TENON_INLINE bool run_short_host(T* data, const array<index, Rank>& extents, const Program& program) {
  const index count = count_between(extents, 0, Rank);
  const auto cursor = program.at(array<index, Rank>{});
  if (count > detail::pointwise_chunk || !cursor.is_adjacent() || !reads_beside(cursor, data, count)) return false;
  if constexpr (Rank > 1) {
    if (!is_flat(program, extents)) return false;
  }
  constexpr int width = simd::width_for(greatest_size({static_cast<int>(sizeof(T)), decltype(cursor)::widest}));
  count_launch("pointwise");
  index i = 0;
  for (; i + width <= count; i += width) {
    simd::store<width>(data + i, cursor.template pack<width>(i, adjacent_access{}, no_slots{}));
  }
  for (; i < count; ++i) data[i] = static_cast<T>(cursor.value(i, no_slots{}));
  return true;
}

}  // namespace tenon
