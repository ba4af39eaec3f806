// tenon/kernels/columns.hpp: the kernel of statements that reduce across memory, such as sums of columns.
// Neighbouring threads fold neighbouring results, whose values lie side by side; rows are shared by warps and blocks.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/workspace.hpp>
#include <tenon/kernels/fold.hpp>
#include <tenon/plan/sharing.hpp>

namespace tenon {

inline constexpr int column_group = warp_size;                        // results of a block
inline constexpr int column_rows = kernel_block / column_group;       // threads of each
inline constexpr int column_bytes = kernel_block * lane_value_bytes;  // of shared memory

/// The states of a column's threads combined in order, in the first of them.
template <class Monoid, class Device, class State>
TENON_HOST_DEVICE void combine_rows(Device& device, State& own) {
  const int used = device.shared_used();
  const auto shared = device.template shared<State>(kernel_block);
  shared.store(device.thread(), own);
  device.sync();
  if (device.thread() < column_group) {
    for (int row = 1; row < column_rows; ++row) {
      own = Monoid::combine(own, shared.load(row * column_group + device.thread()));
    }
  }
  device.sync();
  device.release_shared(used);
}

/// The same for the partial results that `parts` blocks have left for a group of columns.
template <class Monoid, class Device, class State>
TENON_HOST_DEVICE void combine_column_parts(Device& device, const State* left, int parts, State& own) {
  own = Monoid::template identity<State>();
  for (int part = device.thread() / column_group; part < parts; part += column_rows) {
    own = Monoid::combine(own, left[index{part} * column_group + device.thread() % column_group]);
  }
  combine_rows<Monoid>(device, own);
}

/// A block, or several, for each group of neighbouring results.
template <int Rank, class Target, class Program, class Folds, class Slots, class States>
struct columns_kernel {
  static constexpr const char* name = "reduce";
  static constexpr int min_blocks = resident_blocks;
  numbered_positions<Rank> positions;
  Target target;
  Program program;
  Folds folds;
  array<int, Folds::count> first_equal;
  index rows;  // of a result, of any reduction
  int parts;
  unsigned* counters;  // of a group's blocks that are done
  States states;       // what they leave: groups of results, part after part

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    fold_part(device, device.block().x / parts, device.block().x % parts,
              std::make_integer_sequence<int, Folds::count>{});
  }

 private:
  template <int I>
  using monoid_of = typename std::remove_cvref_t<decltype(get<I>(std::declval<const Folds&>()))>::monoid;

  template <class Device, int... I>
  TENON_HOST_DEVICE void fold_part(Device& device, index group, index part, std::integer_sequence<int, I...>) const {
    const int column = device.thread() % column_group, row = device.thread() / column_group;
    const index result = group * column_group + column;
    decltype(lanes_of(folds)) partial;
    if (result < positions.count()) {
      const auto start = make_tuple_of(get<I>(folds).starts[result]...);
      const index end = rows * (part + 1) / parts;
      for (index i = rows * part / parts + row; i < end; i += column_rows) {
        (add_row<I>(get<I>(partial), get<I>(start), i), ...);
      }
    }
    (combine_rows<monoid_of<I>>(device, get<I>(partial).lane[0]), ...);
    if (parts > 1) {
      const index left = group * parts * column_group;
      if (row == 0) ((get<I>(states)[left + part * column_group + column] = get<I>(partial).lane[0]), ...);
      if (!is_last_block(device, counters + group, parts)) return;
      (combine_column_parts<monoid_of<I>>(device, get<I>(states) + left, parts, get<I>(partial).lane[0]), ...);
    }
    if (row != 0 || result >= positions.count()) return;
    Slots slots{};
    (set_slot<I>(slots, get<I>(partial).lane[0]), ...);
    const auto position = positions[result];
    target.store(position, program.at(position).value(0, slots));
  }
  template <int I, class Lanes, class Position>
  TENON_HOST_DEVICE void add_row(Lanes& partial, const Position& start, index i) const {
    const auto& fold = get<I>(folds);
    if (first_equal[I] == I && i < fold.count) fold.add(partial, start, i, no_slots{});
  }
  template <int I, class State>
  TENON_HOST_DEVICE void set_slot(Slots& slots, const State& total) const {
    if (copy_equal_slot<I>(slots.results, first_equal)) return;
    get<I>(slots.results) = get<I>(folds).finish(total);
  }
};

/// Whether neighbouring results are folded side by side: their values are neighbours in memory, and there are several.
template <int... I, class... Folds, int ResultRank>
bool folds_columns(const detail::tuple_base<std::integer_sequence<int, I...>, Folds...>& folds,
                   const array<index, ResultRank>& result_extents) {
  if constexpr (ResultRank == 0) {
    return false;
  } else {
    return result_extents[ResultRank - 1] >= column_group / 4 && (get<I>(folds).across && ...);
  }
}

}  // namespace tenon
