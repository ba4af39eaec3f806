// tenon/kernels/long_rows.hpp: the kernel of row-resident statements with few long rows.
// Blocks share a row: each folds parts of it, all meet after every reduction, and each writes the parts that it folded.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/kernels/row_writer.hpp>
#include <tenon/plan/sharing.hpp>

namespace tenon {

inline constexpr index few_rows = 64;  // below this, rows alone cannot fill a device

/// A block per part of a row, or for several; rows are the axes from `RowAxis` on.
template <int Rank, int Size, class Target, class Program, class Folds, class Slots, class States>
struct long_rows_kernel {
  static constexpr const char* name = "rows";
  static constexpr bool is_cooperative = true;
  static constexpr int min_blocks = resident_blocks;
  numbered_positions<Rank> rows;  // their starts
  row_writer<Rank, Size, Target, Program> writer;
  Folds folds;
  array<int, Folds::count> first_equal;
  int parts;
  unsigned* barrier;
  States states;  // what the parts leave, row after row

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    fold_all(device, std::make_integer_sequence<int, Folds::count>{});
    for (index item = device.block().x; item < rows.count() * parts; item += device.grid_size().x) {
      Slots slots{};
      set_slots(device, item / parts, slots, std::make_integer_sequence<int, Folds::count>{});
      const auto start = rows[item / parts];
      const index units = writer.units.count(), end = units * (item % parts + 1) / parts;
      writer.write_all(start, units * (item % parts) / parts + device.thread(), kernel_block, end, slots);
    }
  }

 private:
  template <class Device, int... I>
  TENON_HOST_DEVICE void fold_all(Device& device, std::integer_sequence<int, I...>) const {
    (fold_parts<I>(device), ...);
  }
  /// One reduction of all rows; it sees the results of those before it.
  template <int I, class Device>
  TENON_HOST_DEVICE void fold_parts(Device& device) const {
    if (first_equal[I] != I) return;
    const auto& fold = get<I>(folds);
    using fold_type = std::remove_cvref_t<decltype(fold)>;
    for (index item = device.block().x; item < rows.count() * parts; item += device.grid_size().x) {
      Slots slots{};
      set_slots(device, item / parts, slots, std::make_integer_sequence<int, I>{});
      typename fold_type::lanes partial;
      const auto start = fold.starts[item / parts];
      const index units = fold.units.count(), end = units * (item % parts + 1) / parts;
      fold.add_all(partial, start, units * (item % parts) / parts + device.thread(), kernel_block, end, slots);
      const auto total = partial.combined(device, row_team::block());
      if (device.thread() == 0) get<I>(states)[item] = total;
    }
    device.sync_grid(barrier);
  }
  /// The results of a row's first reductions, in each thread.
  template <class Device, int... I>
  TENON_HOST_DEVICE void set_slots([[maybe_unused]] Device& device, [[maybe_unused]] index row, Slots& slots,
                                   std::integer_sequence<int, I...>) const {
    (set_slot<I>(device, row, slots), ...);
  }
  template <int I, class Device>
  TENON_HOST_DEVICE void set_slot(Device& device, index row, Slots& slots) const {
    if (copy_equal_slot<I>(slots.results, first_equal)) return;
    const auto& fold = get<I>(folds);
    using monoid = typename std::remove_cvref_t<decltype(fold)>::monoid;
    get<I>(slots.results) = fold.finish(combine_parts<monoid>(device, get<I>(states) + row * parts, parts));
  }
};

/// Runs that kernel, `parts` parts a row, on as many blocks as `Space` has room for.
template <class Space, class Slots, int Rank, int Size, class Target, class Program, class Folds>
void run_long_rows_kernel(const numbered_positions<Rank>& rows, const row_writer<Rank, Size, Target, Program>& writer,
                          const Folds& folds, const array<int, Folds::count>& first_equal, int parts) {
  using places = decltype(state_places_of<Space>(folds));
  const index items = rows.count() * parts;
  const auto left = places::take(items);
  using kernel_type = long_rows_kernel<Rank, Size, Target, Program, Folds, Slots, decltype(left.values)>;
  const kernel_type kernel{rows, writer, folds, first_equal, parts, left.own->grid_barrier(), left.values};
  const index room = cooperative_blocks<Space, kernel_type>(kernel_block, block_reduce_bytes);
  launch<Space>(launch_shape{.grid = {static_cast<int>(items < room ? items : room)},
                             .block = kernel_block,
                             .shared_bytes = block_reduce_bytes},
                kernel);
  left.launched();
}

}  // namespace tenon
