// tenon/host/reduce.hpp: the loops of statements that reduce.
// A block of neighbouring results is folded, then what the statement does with them is applied while they are in cache.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/host/fold.hpp>
#include <tenon/host/pointwise.hpp>
#include <tenon/host/windows.hpp>

namespace tenon {

/// Finished results of each reduction for a block of neighbouring outputs; outputs are counted from `origin`.
template <class... Values>
struct block_slots {
  tuple<array<Values, static_cast<int>(detail::lane_block)>...> results;
  index origin;

  template <int Slot>
  TENON_HOST_DEVICE auto value(index i) const {
    return get<Slot>(results)[i - origin];
  }
  template <int Slot, int Width, class Access>
  auto pack(index i, Access access) const {
    using value_type = std::remove_cvref_t<decltype(get<Slot>(results)[0])>;
    return load_wanted<value_type, Width>(get<Slot>(results).begin() + (i - origin), access);
  }
};

namespace detail {

/// Counts the elements that a cursor reads with steps, neither side by side nor as one. Of positions that move, it is
/// not known what lies there.
struct read_apart {
  int count = 0;
  template <class Start>
  void operator()(const Start&, index stride) {
    count += stride != 0 && (stride != 1 || !std::is_pointer_v<Start>);
  }
};

inline constexpr index few_beside = 8;  // results that are folded side by side where their own values lie apart

/// The most neighbours, of `count` values of several operands each, that are better folded one by one: side by side,
/// packs of so few are nearly empty, and what lies across is copied for them.
constexpr index most_alone(index count) {
  const index few = count < 24 ? 3 : count / 8;
  return count < few ? count : few;
}

/// Whether neighbouring results are better folded side by side: the innermost axis is kept; or their elements lie side
/// by side, fewer being enough where those of a result lie apart; or it is reduced, short and not part of a long run
/// side by side in memory.
template <int FirstSlot, class Reduction, int ResultRank>
bool folds_along_kept(const Reduction& node, const array<index, ResultRank>& result_extents) {
  constexpr int rank = std::remove_cvref_t<decltype(node.operand())>::shape_type::rank;
  constexpr auto axes = axes_in_result<rank>(typename Reduction::axes{});
  using space = decltype(lower_reduction<FirstSlot>(node, result_extents, false));
  using cursor = decltype(std::declval<const space&>().program.at(array<index, rank>{}));
  constexpr bool in_lanes = folds_states_in_lanes<typename space::monoid, cursor, no_slots>;
  const int last_kept = last_kept_axis(axes, result_extents);
  if (last_kept < 0) return false;
  const index beside = result_extents[axes[last_kept]], inner = node.operand().shape().extent(rank - 1);
  if (beside <= 1 || last_kept == rank - 1) return beside > 1;
  const auto merged = lower_reduction<FirstSlot>(node, result_extents, false);
  const bool is_adjacent = merged.program.at(array<index, rank>{}).is_adjacent();
  auto along = lower_reduction<FirstSlot>(node, result_extents, true).program.at(array<index, rank>{});
  read_apart elements;
  visit_elements(along, elements);
  // Short runs are copied across, once for each source: of more sources, only shorter ones are worth it.
  const bool is_few = folds_few_rows<space> && merged.count == inner;
  const bool has_few_copies = source_count<decltype(space::program)> == 1 || (is_few && elements.count <= 2);
  const index short_run = in_lanes ? long_block<cursor> : has_few_copies ? 33 : 17;
  if (elements.count == 0 && beside >= (is_adjacent ? short_run : few_beside)) return true;
  if (inner >= short_run || beside <= (is_few ? most_alone(inner) : inner)) return false;
  return merged.run_length() < short_run || !is_adjacent;
}

template <int... I, class... Reductions, int Rank>
array<bool, sizeof...(I)> along_kept_of(
    const tuple_base<std::integer_sequence<int, I...>, const Reductions*...>& reductions,
    const array<index, Rank>& extents) {
  return {{folds_along_kept<I + 1 - slot_count<Reductions>>(*get<I>(reductions), extents)...}};
}

/// Full reductions; long ones are shared among threads.
template <class... Values, int... I, class... Folds, int Count>
void set_everything(block_slots<Values...>& slots, const tuple_base<std::integer_sequence<int, I...>, Folds...>& folds,
                    const array<int, Count>& first_equal) {
  tuple<item_fold<Folds>...> items{{{item_fold<Folds>(get<I>(folds), first_equal[I] == I)}...}};
  run_items(array<folded_items*, Count>{{&get<I>(items)...}});
  ((copy_equal_slot<I>(slots.results, first_equal) ? void() : void(get<I>(slots.results)[0] = get<I>(items).total())),
   ...);
}

/// How many of `length` neighbouring results, of `values` elements each, one item of a parallel loop takes. Columns
/// side by side are read fastest in whole rows; results do not depend on where they are cut, as cuts lie between packs.
inline index result_block(index length, index values, bool along_kept) {
  if (!along_kept || length == 0) {
    index size = least_lane_block;
    while (size > 1 && size * values > 4 * pointwise_grain) size /= 2;
    return size;
  }
  const index blocks = (length + lane_block - 1) / lane_block, share = (length + blocks - 1) / blocks;
  return (share + least_lane_block - 1) / least_lane_block * least_lane_block;
}

/// Blocks of results along the last axis.
struct result_blocks {
  index length, size;

  index in_row() const { return (length + size - 1) / size; }
  array<index, 2> part(index item) const {
    const index begin = item % in_row() * size;
    return {{begin, begin + size < length ? begin + size : length}};
  }
};

/// Folds the results of a part of a reduction.
template <class Fold, class Slots, int Rank>
void set_results(Slots& slots, const Fold& fold, const array<index, Rank>& position, int last_axis,
                 const folded_part<typename Fold::value_type>& to) {
  fold_results(fold, position, last_axis, to, slots_for<Fold::reads_slots>(slots));
}

/// Calls `write(position, part, slots)` for blocks of results along `last_axis`, shared among threads. Where these are
/// few, and little is left to do with results, threads share the rows of each block instead.
template <bool IsBrief, int Rank, class Write, int... I, class... Folds>
void run_blocks(const array<index, Rank>& extents, int last_axis, const Write& write,
                const tuple_base<std::integer_sequence<int, I...>, Folds...>& folds,
                const array<int, sizeof...(I)>& first_equal) {
  auto others = extents;
  others[last_axis] = 1;
  const bool along_kept = (false || ... || get<I>(folds).along_kept);
  const index values = 1 + (index{0} + ... + get<I>(folds).count), length = extents[last_axis];
  const result_blocks blocks{length, result_block(length, values, along_kept)};
  const index items = count_between(others, 0, Rank) * blocks.in_row();
  const bool shares_rows = IsBrief && along_kept && items < 2 * thread_count();
  const index grain = shares_rows ? items : 1 + pointwise_grain / (blocks.size * values);
  const index parts = part_count(items, grain);
  const column_memory memory(parts, blocks.size, get<I>(folds)...);
  parallel_parts(items, grain, parts, [&](index first, index last, index thread) {
    array<index, Rank> position{};
    alignas(line_bytes) block_slots<typename Folds::value_type...> slots;
    column_copies copies;
    for (index item = first; item < last; ++item) {
      set_position(position, others, 0, Rank, item / blocks.in_row());
      const auto part = blocks.part(item);
      slots.origin = part[0];
      ((copy_equal_slot<I>(slots.results, first_equal)
            ? void()
            : set_results(slots, get<I>(folds), position, last_axis,
                          memory.part(part, get<I>(slots.results).begin(), copies, thread))),
       ...);
      write(position, part, slots);
    }
  });
}

}  // namespace detail

namespace detail {

/// Writes `program`, whose axes come in the order `with_axis_last(last_axis)`, to a target of `extents`: a block of
/// results along `last_axis` for every position of the row axes, those from `RowAxis` on.
template <int RowAxis, class Target, int Rank, class Program, class... Folds>
void write_result_blocks(const Target& target, const array<index, Rank>& extents, int last_axis, const Program& program,
                         const tuple<Folds...>& folds, const array<int, sizeof...(Folds)>& first_equal) {
  using slots = block_slots<typename Folds::value_type...>;
  const auto order = with_axis_last<Rank>(last_axis);
  const auto write = [&](array<index, Rank> position, const array<index, 2>& part, const slots& results) {
    array<index, Rank> here{};
    for (index row = 0; row < count_between(extents, RowAxis, Rank); ++row) {
      set_position(position, extents, RowAxis, Rank, row);
      for (int place = 0; place < Rank - 1; ++place) here[place] = position[order[place]];
      write_run<reading::strided>(target.run_along(position, last_axis), part, program.at(here), results);
    }
  };
  auto results_extents = extents;
  for (int axis = RowAxis; axis < Rank; ++axis) results_extents[axis] = 1;
  if constexpr (RowAxis == Rank) {
    if (count_between(results_extents, 0, Rank) == 1) {
      slots results;
      results.origin = 0;
      set_everything(results, folds, first_equal);
      return write({}, {{0, 1}}, results);
    }
  }
  if constexpr (Rank > 0) run_blocks<RowAxis == Rank>(results_extents, last_axis, write, folds, first_equal);
}

}  // namespace detail

/// Evaluates a statement of reductions into `target`: results are folded in blocks along the last kept axis, and each
/// block is written for every position of the row axes, those from `RowAxis` on, that are left in the result. In
/// `extents`, the result's, axes may have become one.
template <int RowAxis, class Target, class E, class... Folds>
TENON_INLINE void run_result_blocks(const Target& target, const E& node,
                                    const array<index, E::shape_type::rank>& extents, const tuple<Folds...>& folds) {
  constexpr int rank = E::shape_type::rank;
  const int last_axis = last_moving_axis(extents, RowAxis);
  const auto program = node.template lower<0>(ordered_map(with_axis_last<rank>(last_axis)));
  detail::write_result_blocks<RowAxis>(target, extents, last_axis, program, folds, first_equal_reductions(node));
}

/// Evaluates a statement of the form `reduce` into `target`.
template <class Target, class E>
TENON_INLINE void run_reduce_host(const Target& target, const E& node) {
  if constexpr (reduces_windows<E>) {
    if (run_windows_host(target, node)) return;
  }
  constexpr int rank = E::shape_type::rank;
  auto extents = node.shape().to_array();
  if (count_between(extents, 0, last_moving_axis(extents, rank)) > 1) {
    const auto program = node.template lower<0>(identity_map<rank>());
    extents = with_one_line(extents, target, program, lower_reductions(node, extents));
  }
  const auto folds = lower_reductions(node, extents, detail::along_kept_of(reductions_of(node), extents));
  const counted_launch counted("reduce");
  run_result_blocks<rank>(target, node, extents, folds);
}

}  // namespace tenon
