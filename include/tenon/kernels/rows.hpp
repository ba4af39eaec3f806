// tenon/kernels/rows.hpp: the kernel of row-resident statements.
// A team of threads owns a row: it folds reduction by reduction, each seeing the ones before, and then writes the row.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/kernels/reduce.hpp>

namespace tenon {

/// Elements of the packets in which rows are written; 1 where they are written one by one.
template <class Target, class Program>
inline constexpr int row_packet = 1;
template <class T, int Rank, class Program>
inline constexpr int row_packet<strided_target<T, Rank>, Program> =
    visits_all_reads<Program> ? packet_size<T, Program> : 1;

/// One team per row; rows are the axes from `RowAxis` on.
template <int Rank, class Target, class Program, class Folds, class Slots>
struct rows_kernel {
  static constexpr const char* name = "rows";
  static constexpr int min_blocks = resident_blocks;
  numbered_positions<Rank> rows;     // their starts
  numbered_positions<Rank> columns;  // from the start of a row; of packets where they fit
  Target target;
  Program program;
  Folds folds;
  array<int, Folds::count> first_equal;
  int team;
  bool in_packets;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const index teams = device.block_size() / team;
    for (index row = device.block().x * teams + device.thread() / team; row < rows.count();
         row += device.grid_size().x * teams) {
      Slots slots{};
      fold_all(device, row, slots, std::make_integer_sequence<int, Folds::count>{});
      if (team == warp_size) device.sync_warp();  // in place, no lane writes what another has yet to read
      const auto start = rows[row];
      for (index i = device.thread() % team; i < columns.count(); i += team) {
        write_unit(start, i, slots);
      }
    }
  }

 private:
  static constexpr int size = row_packet<Target, Program>;

  TENON_HOST_DEVICE void write_unit(const array<index, Rank>& start, index i, const Slots& slots) const {
    auto position = columns[i];
    if (in_packets) position[Rank - 1] *= size;
    for (int axis = 0; axis < Rank; ++axis) position[axis] += start[axis];
    const auto cursor = settle(program.at(position), slots);
    if constexpr (size > 1) {
      if (in_packets) return write_packet<size>(target.at(position), cursor, fetch<size>(cursor));
    }
    target.store(position, cursor.value(0, slots));
  }
  template <class Device, int... I>
  TENON_HOST_DEVICE void fold_all(Device& device, index row, Slots& slots, std::integer_sequence<int, I...>) const {
    (fold_one<I>(device, row, slots), ...);
  }
  template <int I, class Device>
  TENON_HOST_DEVICE void fold_one(Device& device, index row, Slots& slots) const {
    if (copy_equal_slot<I>(slots.results, first_equal)) return;
    const auto& fold = get<I>(folds);
    auto partial = fold.none();
    const auto start = fold.starts[row];
    for (index i = device.thread() % team; i < fold.units.count(); i += team) fold.add(partial, start, i, slots);
    get<I>(slots.results) = fold.finish(fold.combined(device, team, partial));
  }
};

/// Evaluates a statement of the form `rows` into `target`, in one launch.
template <class Space, int RowAxis, class Target, class E>
void run_rows_kernel(Target target, const E& node) {
  constexpr int rank = E::shape_type::rank;
  auto extents = node.shape().to_array();
  const auto result_extents = extents;
  auto program = node.template lower<0>(identity_map<rank>());
  merge_axes(extents, RowAxis, rank, [&](auto&& visitor) { target.visit(visitor), program.visit(visitor); });
  auto row_extents = extents, column_extents = extents, fold_extents = result_extents;
  for (int axis = 0; axis < rank; ++axis) {
    (axis < RowAxis ? column_extents : row_extents)[axis] = 1;
    if (axis >= RowAxis) fold_extents[axis] = 1;
  }
  const auto folds = lower_kernel_folds(node, result_extents, fold_extents);
  using slots = decltype(slots_of(folds));
  const int size = row_packet<Target, decltype(program)>;
  const bool in_packets = size > 1 && column_extents[rank - 1] % size == 0 && lies_in_packets(extents, target, program);
  if (in_packets) column_extents[rank - 1] /= size;
  const rows_kernel<rank, Target, decltype(program), std::remove_const_t<decltype(folds)>, slots> kernel{
      numbered_positions<rank>(row_extents),
      numbered_positions<rank>(column_extents),
      target,
      program,
      folds,
      first_equal_reductions(node),
      fold_team(most_values(folds)),
      in_packets};
  launch<Space>(launch_shape{.grid = {blocks_for(kernel.rows.count() * kernel.team)},
                             .block = kernel_block,
                             .shared_bytes = block_reduce_bytes},
                kernel);
}

}  // namespace tenon
