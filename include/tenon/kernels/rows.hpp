// tenon/kernels/rows.hpp: the kernel of row-resident statements.
// A team of threads owns a row: it folds reduction by reduction, each seeing the ones before, and then writes the row.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/kernels/held_rows.hpp>
#include <tenon/kernels/long_rows.hpp>
#include <tenon/kernels/reduce.hpp>

namespace tenon {

/// One team per row; rows are the axes from `RowAxis` on. Packets of all programs are of one size, so that a thread
/// meets the same elements in each.
template <int Rank, int Size, class Target, class Program, class Folds, class Slots>
struct rows_kernel {
  static constexpr const char* name = "rows";
  static constexpr int min_blocks = resident_blocks;
  numbered_positions<Rank> rows;  // their starts
  row_writer<Rank, Size, Target, Program> writer;
  Folds folds;
  array<int, Folds::count> first_equal;
  row_team team;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const index teams = team.of_block(), own = team.number(device.thread());
    for (index first = device.block().x * teams; first < rows.count(); first += device.grid_size().x * teams) {
      const bool is_row = first + own < rows.count();  // a team without one meets its warp in all shuffles
      run(device, is_row ? first + own : first, is_row);
    }
  }

 private:
  template <class Device>
  TENON_HOST_DEVICE void run(Device& device, index row, bool is_row) const {
    Slots slots{};
    fold_all(device, row, is_row, slots, std::make_integer_sequence<int, Folds::count>{});
    if (team.is_in_warp()) device.sync_warp();  // in place, no lane writes what another has yet to read
    const auto start = rows[row];
    const index end = is_row ? writer.units.count() : 0;
    writer.write_all(start, team.lane(device.thread()), team.size(), end, slots);
  }
  template <class Device, int... I>
  TENON_HOST_DEVICE void fold_all(Device& device, index row, bool is_row, Slots& slots,
                                  std::integer_sequence<int, I...>) const {
    (fold_one<I>(device, row, is_row, slots), ...);
  }
  template <int I, class Device>
  TENON_HOST_DEVICE void fold_one(Device& device, index row, bool is_row, Slots& slots) const {
    if (copy_equal_slot<I>(slots.results, first_equal)) return;
    const auto& fold = get<I>(folds);
    typename std::remove_cvref_t<decltype(fold)>::lanes partial;
    fold.add_all(partial, fold.starts[row], team.lane(device.thread()), team.size(), is_row ? fold.units.count() : 0,
                 slots);
    get<I>(slots.results) = fold.finish(partial.combined(device, team));
  }
};

/// Evaluates a statement of the form `rows` into `target`, in one launch.
template <class Space, int RowAxis, class Target, class E>
void run_rows_kernel(Target target, const E& node) {
  constexpr int rank = E::shape_type::rank;
  auto extents = node.shape().to_array();
  const auto result_extents = extents;
  auto program = node.template lower<0>(identity_map<rank>());
  merge_axes(extents, RowAxis, rank, target, program);
  auto row_extents = extents, column_extents = extents, fold_extents = result_extents;
  for (int axis = 0; axis < rank; ++axis) {
    (axis < RowAxis ? column_extents : row_extents)[axis] = 1;
    if (axis >= RowAxis) fold_extents[axis] = 1;
  }
  auto lowered = lower_reductions(node, result_extents);
  constexpr int size = common_row_packet<Target, decltype(program)>(static_cast<decltype(&lowered)>(nullptr));
  const auto folds =
      apply_tuple([&]<class... Folds>(
                      const Folds&... fold) { return make_tuple_of(kernel_fold<Folds, size>(fold, fold_extents)...); },
                  lowered);
  using program_type = decltype(program);
  using folds_type = std::remove_const_t<decltype(folds)>;
  using slots = decltype(slots_of(folds));
  const bool in_packets =
      size > 1 && column_extents[rank - 1] % size == 0 && lies_in_packets<size>(extents, target, program);
  if (in_packets) column_extents[rank - 1] /= size;
  const numbered_positions<rank> rows(row_extents), units(column_extents);
  const row_writer<rank, size, Target, program_type> writer{units, target, program, in_packets,
                                                            RowAxis < rank && units.is_one_run()};
  const auto first_equal = first_equal_reductions(node);

  const int parts = rows.count() > few_rows ? 1 : parts_of_result(rows.count(), most_units(folds), kernel_block);
  if (parts > 1) return run_long_rows_kernel<Space, slots>(rows, writer, folds, first_equal, parts);
  if constexpr (size > 1 && !std::is_void_v<typename decltype(held_element(&folds))::type>) {
    if (run_held_rows_kernel<Space, RowAxis, slots>(rows, writer, lowered, folds, first_equal, result_extents)) return;
  }
  const row_team team = fold_team(most_units(folds), most_values(folds));
  const rows_kernel<rank, size, Target, program_type, folds_type, slots> kernel{rows, writer, folds, first_equal, team};
  launch<Space>(
      launch_shape{
          .grid = {blocks_for(rows.count() * team.size())}, .block = kernel_block, .shared_bytes = block_reduce_bytes},
      kernel);
}

}  // namespace tenon
