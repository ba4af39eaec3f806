// tenon/host/windows.hpp: the loops of statements that reduce small windows: pools, averages of neighbours.
// The lines of some rows of results are folded first; results are folded pack by pack when the statement writes them.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch_count.hpp>
#include <tenon/device/threads.hpp>
#include <tenon/host/fold_windows.hpp>
#include <tenon/host/tiles.hpp>
#include <tenon/plan/sharing.hpp>
#include <tenon/plan/write.hpp>

namespace tenon {

/// Whether all reductions of a statement may be ones of small windows, as far as types know.
template <class E>
inline constexpr bool reduces_windows = []<class... Reductions>(std::type_identity<tuple<const Reductions*...>>) {
  return (detail::folds_windows<Reductions> && ...);
}(std::type_identity<reduction_pointers<E>>{});

#if !defined(__CUDACC__)

/// The results of each reduction for a row of outputs.
template <class... Folds>
struct window_slots {
  tuple<detail::window_results<Folds>...> rows;

  template <int Slot>
  auto value(index i) const {
    return get<Slot>(rows).value(i);
  }
  template <int Slot, int Width, class Access>
  TENON_INLINE auto pack(index i, Access access) const {
    return get<Slot>(rows).template pack<Width>(i, access);
  }
};

namespace detail {

inline constexpr index most_of_row = 128;  // results of a row that are folded from one line
inline constexpr index shortest_row = 2;   // of results: one is not worth a line

/// Results in blocks of whole rows, or of parts of one row.
struct window_blocks {
  index rows, length, rows_of_block;

  index part_length() const { return length < most_of_row ? length : most_of_row; }
  index parts() const { return (length + most_of_row - 1) / most_of_row; }
  index count() const { return (rows + rows_of_block - 1) / rows_of_block * parts(); }
  array<index, 2> rows_at(index block) const { return cut(block / parts(), rows_of_block, rows); }
  array<index, 2> part_at(index block) const { return cut(block % parts(), most_of_row, length); }

 private:
  static array<index, 2> cut(index number, index size, index end) {
    const index first = number * size;
    return {{first, first + size < end ? first + size : end}};
  }
};

template <int Rank>
array<index, Rank> in_order(const array<index, Rank>& values, const array<int, Rank>& order) {
  array<index, Rank> result{};
  for (int place = 0; place < Rank; ++place) result[place] = values[order[place]];
  return result;
}

/// Calls `write(position, part, slots)` for all parts of rows of results, shared among threads. Rows begin at the
/// positions of `extents`; where they are `joined`, several are a part of one row.
template <class... Folds, int Count, int Rank, class Write>
void run_window_blocks(const tuple<Folds...>& folds, const array<int, Count>& first_equal,
                       const array<index, Rank>& extents, index rows, bool joined, const Write& write) {
  window_blocks blocks{rows, get<0>(folds).row_length(), rows};
  apply_tuple(
      [&](const auto&... fold) {
        const auto limit = [&](index most) {
          blocks.rows_of_block = most < blocks.rows_of_block ? most : blocks.rows_of_block;
        };
        (limit(window_lines<Folds>::most_rows(fold, blocks.part_length(), joined)), ...);
      },
      folds);
  const index taps = (1 + ... + (Folds::rows * Folds::in_line));
  const index grain = 1 + pointwise_grain / (taps * blocks.rows_of_block * blocks.part_length());
  parallel_for(blocks.count(), grain, [&](index first, index last) {
    auto lines = apply_tuple(
        [&](const auto&... fold) { return tuple<window_lines<Folds>...>{{{window_lines<Folds>(fold, joined)}...}}; },
        folds);
    window_slots<Folds...> slots;
    const int axes = last_moving_axis(extents, Rank) + 1;
    for (index block = first; block < last; ++block) {
      const auto rows_here = blocks.rows_at(block), part = blocks.part_at(block);
      for_each_index<Count>([&](auto slot) {
        if (first_equal[slot.value] != slot.value) return;
        get<slot.value>(lines).fold_rows(rows_here, part);
      });
      const auto write_results = [&](index row, const array<index, Rank>& position, const array<index, 2>& results) {
        for_each_index<Count>([&](auto slot) {
          if (copy_equal_slot<slot.value>(slots.rows, first_equal)) return;
          get<slot.value>(slots.rows) = get<slot.value>(lines).results(row - rows_here[0]);
        });
        write(position, results, slots);
      };
      array<index, Rank> position{};
      if (joined) {
        write_results(rows_here[0], position, {{rows_here[0] * blocks.length, rows_here[1] * blocks.length}});
        continue;
      }
      set_position(position, extents, 0, axes, rows_here[0]);
      for (index row = rows_here[0]; row < rows_here[1]; ++row, advance_position(position, extents, 0, axes)) {
        write_results(row, position, part);
      }
    }
  });
}

}  // namespace detail

/// Evaluates a statement of reductions of small windows into `target`. Returns false, and has done nothing, where
/// windows are no neighbours in memory.
template <class Target, class E>
bool run_windows_host(const Target& target, const E& node) {
  constexpr int rank = E::shape_type::rank;
  const auto extents = node.shape().to_array();
  const auto folds = apply_tuple(
      [&](const auto*... reduction) { return make_tuple_of(detail::lower_windows(*reduction, extents)...); },
      reductions_of(node));
  const int along = get<0>(folds).row_axis;
  const index length = extents[along];
  const bool fits = apply_tuple(
      [&](const auto&... fold) { return ((detail::is_on_line(fold) && fold.row_axis == along) && ...); }, folds);
  if (!fits || length < detail::shortest_row) return false;

  const counted_launch counted("reduce");
  const auto order = with_axis_last<rank>(along);
  const auto program = node.template lower<0>(ordered_map(order));
  auto rows = target;
  rows.visit([&](array<index, rank>& stride, const auto&) { stride = detail::in_order(stride, order); });
  auto others = detail::in_order(extents, order);
  others[rank - 1] = 1;
  const auto write_to = [&](const auto& targets, const auto& values, bool joined) {
    detail::run_window_blocks(folds, first_equal_reductions(node), others, count_between(others, 0, rank), joined,
                              [&](const array<index, rank>& position, const array<index, 2>& part, const auto& slots) {
                                write_run<reading::strided>(targets.run_along(position, rank - 1), part,
                                                            values.at(position), slots);
                              });
  };
  auto one_row = detail::in_order(extents, order);
  auto joined_rows = rows;
  auto joined_program = program;
  merge_axes(one_row, 0, rank, joined_rows, joined_program);
  const bool tile = apply_tuple([](const auto&... fold) { return ((fold.step >= fold.in_line) && ...); }, folds);
  if (tile && length <= detail::most_of_row && count_between(one_row, 0, rank - 1) == 1) {
    write_to(joined_rows, joined_program, true);
  } else {
    write_to(rows, program, false);
  }
  return true;
}

#endif

}  // namespace tenon
