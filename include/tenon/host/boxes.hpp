// tenon/host/boxes.hpp: statements over many small boxes on the CPU.
// Packs hold the same element of neighbouring boxes, so that short rows are as fast as long ones.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch_count.hpp>
#include <tenon/device/simd_interleave.hpp>
#include <tenon/device/threads.hpp>
#include <tenon/plan/access.hpp>
#include <tenon/plan/boxes.hpp>

namespace tenon {

namespace detail {

inline constexpr index box_grain = 4096;  // boxes; for fewer, a second thread costs more than it saves

/// Writes the first `count` lanes of each place, one by one.
template <class Value, class T, class Layout, class V>
[[gnu::noinline]] void scatter_boxes(T* to, const Layout& layout, index step, const V* packs, index count) {
  for (int place = 0; place < layout.offsets.size(); ++place) {
    for (index lane = 0; lane < count; ++lane) {
      to[layout.offsets[place] + lane * step] = static_cast<T>(static_cast<Value>(packs[place][lane]));
    }
  }
}

/// Writes boxes at neighbouring places, `step` apart and at most as many as lanes.
template <int Lanes, class Boxes, class T, class Values>
TENON_INLINE void store_boxes(T* to, const box_layout<typename Boxes::shape>& layout, index step, const Values& values,
                              index count) {
  if constexpr (lie_in_packs<T, typename Boxes::value_type>) {
    if (layout.is_whole && step == Boxes::count) [[likely]] {
      if (count == Lanes) [[likely]]
        return simd::store_interleaved<Lanes>(to, values.at);
      if constexpr (Boxes::count == 1 && simd::has_partial_packs)
        return simd::store_part<Lanes>(to, values.at[0], count);
    }
  }
  if constexpr (Lanes == 1) {
    for (int place = 0; place < Boxes::count; ++place) to[layout.offsets[place]] = static_cast<T>(values.at[place]);
  } else {
    using V = std::remove_cvref_t<decltype(values.at[0])>;
    const auto in_memory = make_box_values<V, Boxes::count>([&](auto place) { return values.at[place.value]; });
    scatter_boxes<typename Boxes::value_type>(to, layout, step, in_memory.at, count);
  }
}

/// Whether the second half of a statement's leaves is the first half again, as in `x / norm_l2(x, axis<-1>)`: then one
/// becomes the other, and compilers see that it is read once.
template <class... Leaves>
TENON_INLINE bool unite_halves(const tuple<Leaves...>& leaves) {
  constexpr int half = static_cast<int>(sizeof...(Leaves)) / 2;
  return [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    if constexpr (half > 0 && sizeof...(Leaves) == 2 * half &&
                  (std::is_same_v<decltype(get<I>(leaves)), decltype(get<I + half>(leaves))> && ...)) {
      const bool are_same = (get<I>(leaves)->are_same(*get<I + half>(leaves)) && ...);
      if (are_same) ((*get<I + half>(leaves) = *get<I>(leaves)), ...);
      return are_same;
    } else {
      return false;
    }
  }(std::make_integer_sequence<int, half>{});
}

/// Writes neighbouring boxes: as many as lanes at a time, all of whose values are known before one is written. Returns
/// how many it has written: all but the last few where whole boxes lie side by side, or else none.
template <int Lanes, class T, class Boxes, int Outer>
TENON_INLINE index write_side_by_side(T* to, Boxes boxes, box_places<Outer> places, index count) {
  const auto leaves = boxes.leaves();
  if (!apply_tuple([](const auto*... each) { return (each->lie_side_by_side() && ...); }, leaves)) return 0;
  const auto write = [&]() __attribute__((always_inline)) {
    index done = 0;
    for (; done + Lanes <= count; done += Lanes, places.first[Outer - 1] += Lanes) {
      simd::store_interleaved<Lanes>(to + done * Boxes::count, boxes.template values<Lanes, true>(places).at);
    }
    return done;
  };
  return unite_halves(leaves) ? write() : write();
}

/// Writes neighbouring boxes, `step` apart: as many as lanes at a time.
template <int Lanes, class T, class Boxes, int Outer>
[[gnu::noinline]] void write_boxes(T* to, const box_layout<typename Boxes::shape>& layout, index step,
                                   const Boxes& boxes, const array<index, Outer>& first, index count) {
  box_places<Outer> places{first, {}, Lanes};
  places.step[Outer - 1] = 1;
  index done = 0;
  if constexpr (lie_in_packs<T, typename Boxes::value_type>) {
    if (layout.is_whole && step == Boxes::count) done = write_side_by_side<Lanes>(to, boxes, places, count);
  }
  for (; done < count; done += Lanes) {
    places.first[Outer - 1] = first[Outer - 1] + done;
    places.count = count - done < Lanes ? count - done : Lanes;
    store_boxes<Lanes, Boxes>(to + done * step, layout, step, boxes.template values<Lanes>(places), places.count);
  }
}

/// Writes neighbouring boxes of `counts[0]` rows, of each row `counts[1]`, at most as many as lanes. `steps` lead from
/// row to row and from box to box. What repeats from row to row is read once.
template <int Lanes, class T, class Boxes, int Outer>
[[gnu::noinline]] void write_box_rows(T* to, const box_layout<typename Boxes::shape>& layout, array<index, 2> steps,
                                      const Boxes& boxes, const array<index, Outer>& first, array<index, 2> counts) {
  box_places<Outer> places{first, {}, counts[1]};
  places.step[Outer - 1] = 1;
  const auto row_at = boxes_along<Lanes, Outer - 2>(boxes, places);
  for (index row = 0; row < counts[0]; ++row) {
    store_boxes<Lanes, Boxes>(to + row * steps[0], layout, steps[1], row_at(row), counts[1]);
  }
}

/// How many rows of boxes are written beside one another: all of short ones, few of long ones, as caches hold.
constexpr index box_rows_at_once(index boxes_in_row) {
  constexpr index fewest = 16, most_boxes = 1024;
  return fewest * boxes_in_row > most_boxes ? fewest : most_boxes / boxes_in_row;
}

/// Boxes in rows, of which some operands are the same in each row: packs of these are read once for several rows.
template <int Lanes, int Outer, class T, int Rank, class Boxes>
void run_box_rows(const strided_target<T, Rank>& target, const array<index, Rank>& extents, const Boxes& boxes) {
  constexpr int along = Outer - 1, across = Outer - 2;
  const index width = extents[along];
  if (width == 0) return;
  const box_layout<typename Boxes::shape> layout(target.stride);
  const array<index, 2> steps{{target.stride[across], target.stride[along]}};
  parallel_for(count_between(extents, 0, along), box_grain / width + 1, [&](index first, index last) {
    array<index, Rank> position{};
    set_position(position, extents, 0, along, first);
    for (index rows = 0; first < last; first += rows) {
      rows = box_rows_at_once(width);
      for (const index most : {extents[across] - position[across], last - first}) rows = most < rows ? most : rows;
      array<index, Outer> place{};
      for (int axis = 0; axis < Outer; ++axis) place[axis] = position[axis];
      T* const to = target.at(position);
      for (index done = 0; done < width; done += Lanes) {
        place[along] = done;
        const index count = width - done < Lanes ? width - done : Lanes;
        write_box_rows<Lanes>(to + done * steps[1], layout, steps, boxes, place, {{rows, count}});
      }
      position[across] += rows - 1;
      advance_position(position, extents, 0, along);
    }
  });
}

/// Boxes one after another. Lines of them are cut at multiples of `box_grain`, whatever the number of threads.
template <int Lanes, int Outer, class T, int Rank, class Boxes>
void run_box_line(const strided_target<T, Rank>& target, const array<index, Rank>& extents, const Boxes& boxes) {
  constexpr int along = Outer - 1;
  const box_layout<typename Boxes::shape> layout(target.stride);
  const index width = extents[along], pieces = (width + box_grain - 1) / box_grain;
  parallel_for(count_between(extents, 0, along) * pieces, box_grain / (width + 1) + 1, [&](index first, index last) {
    array<index, Rank> position{};
    set_position(position, extents, 0, along, first / pieces);
    position[along] = first % pieces * box_grain;
    for (index piece = first; piece < last; ++piece) {
      array<index, Outer> place{};
      for (int axis = 0; axis < Outer; ++axis) place[axis] = position[axis];
      const index rest = width - position[along], count = rest < box_grain ? rest : box_grain;
      write_boxes<Lanes>(target.at(position), layout, target.stride[along], boxes, place, count);
      position[along] += count;
      if (count < rest) continue;
      position[along] = 0;
      advance_position(position, extents, 0, along);
    }
  });
}

}  // namespace detail

/// Evaluates a statement that `runs_in_boxes` into its target.
template <class T, int Rank, class E>
void run_boxes_host(const strided_target<T, Rank>& target, const E& node) {
  constexpr int outer = detail::axes_before_box<typename E::shape_type>();
  using boxes_type = detail::boxes_of<E, outer>;
  constexpr int lanes = boxes_type::lie_apart ? 1 : simd::width_for(detail::widest_value<E>());
  const counted_launch counted("boxes");
  const boxes_type boxes(node);
  if constexpr (outer > 1 && boxes_type::shares_operands(outer - 2)) {
    detail::run_box_rows<lanes, outer>(target, node.shape().to_array(), boxes);
  } else {
    detail::run_box_line<lanes, outer>(target, node.shape().to_array(), boxes);
  }
}

}  // namespace tenon
