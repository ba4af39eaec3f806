// tenon/host/pointwise.hpp: the loop of pointwise statements.
// Rows of the merged iteration space are shared among threads; along a row the programs yield packs of lanes.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch_count.hpp>
#include <tenon/device/threads.hpp>
#include <tenon/plan/access.hpp>

namespace tenon {

namespace detail {

inline constexpr index pointwise_chunk = 4096;   // elements: few enough to balance, enough to hide the bookkeeping
inline constexpr index pointwise_grain = 16384;  // below this a second thread costs more than it saves

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

template <class Targets, class Programs, int Rank>
TENON_INLINE void write_part(const Targets& targets, const Programs& programs, const array<index, Rank>& position,
                             const array<index, 2>& part) {
  constexpr int count = Targets::count;
  const auto cursors = apply_tuple(
      [&](const auto&... program) __attribute__((always_inline)) { return make_tuple_of(program.at(position)...); },
      programs);
  if constexpr (count == 1) {
    write_run(get<0>(targets).run_at(position), part, get<0>(cursors), no_slots{});
  } else {
    const array<index, count> steps =
        apply_tuple([](const auto&... target) { return array<index, count>{{target.step()...}}; }, targets);
    const auto data =
        apply_tuple([&](const auto&... target) { return make_tuple_of(target.at(position)...); }, targets);
    write_runs(data, steps == filled_array<count>(index{1}), steps, part, cursors);
  }
}

}  // namespace detail

/// Evaluates each program over `extents` into its target, in one pass.
template <int Rank, class... Targets, class... Programs>
TENON_INLINE void run_pointwise_host(array<index, Rank> extents, tuple<Targets...> targets,
                                     tuple<Programs...> programs) {
  merge_axes(extents, 0, Rank, [&](auto&& visitor) {
    apply_tuple([&](auto&... target) { (target.visit(visitor), ...); }, targets);
    apply_tuple([&](auto&... program) { (program.visit(visitor), ...); }, programs);
  });
  const index length = Rank == 0 ? 1 : extents[Rank - 1], rows = count_between(extents, 0, Rank - 1);
  const index chunks = (length + detail::pointwise_chunk - 1) / detail::pointwise_chunk;
  const index chunk = chunks <= 1 ? length : detail::pointwise_chunk;
  const index grain = chunk == 0 ? 1 : (detail::pointwise_grain + chunk - 1) / chunk;
  count_launch("pointwise");
  if (rows == 1 && chunks == 1) return detail::write_part(targets, programs, array<index, Rank>{}, {{0, length}});
  const auto run_items = [=](index first, index last) {
    array<index, Rank> position{};
    for (index item = first; item < last; ++item) {
      const index begin = (item % chunks) * chunk, end = begin + chunk < length ? begin + chunk : length;
      set_position(position, extents, 0, Rank - 1, item / chunks);
      detail::write_part(targets, programs, position, {{begin, end}});
    }
    if (get<0>(targets).streaming) simd::finish_streaming();
  };
  const auto shared = run_items;
  parallel_for(rows * chunks, grain, shared);
}

}  // namespace tenon
