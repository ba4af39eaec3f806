// tenon/kernels/rows.hpp: the kernel of row-resident statements.
// A team of threads owns a row: it folds reduction by reduction, each seeing the ones before, and then writes the row.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/kernels/kept_rows.hpp>
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
  kept_choice<Folds::count> kept;
  int team;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const int teams = device.block_size() / team;
    const auto memory =
        device.template shared<unsigned char>(teams * kept.bytes).part(device.thread() / team * kept.bytes, kept.bytes);
    for (index row = device.block().x * teams + device.thread() / team; row < rows.count();
         row += device.grid_size().x * teams) {
      Slots slots{};
      fold_all(device, memory, row, slots, std::make_integer_sequence<int, Folds::count>{});
      if (team == warp_size) device.sync_warp();  // in place, no lane writes what another has yet to read
      const auto start = rows[row];
      for (index i = device.thread() % team; i < writer.units.count(); i += team) {
        writer.write(start, i, slots, kept_row_reader<Device>{kept, memory, i, kept.first_source[Folds::count]});
      }
    }
  }

 private:
  template <class Device, class Memory, int... I>
  TENON_HOST_DEVICE void fold_all(Device& device, const Memory& memory, index row, Slots& slots,
                                  std::integer_sequence<int, I...>) const {
    (fold_one<I>(device, memory, row, slots), ...);
  }
  template <int I, class Device, class Memory>
  TENON_HOST_DEVICE void fold_one(Device& device, const Memory& memory, index row, Slots& slots) const {
    if (copy_equal_slot<I>(slots.results, first_equal)) return;
    const auto& fold = get<I>(folds);
    typename std::remove_cvref_t<decltype(fold)>::lanes partial;
    const auto start = fold.starts[row];
    for (index i = device.thread() % team; i < fold.units.count(); i += team) {
      fold.add(partial, start, i, slots, kept_row_reader<Device>{kept, memory, i, kept.first_source[I]});
    }
    get<I>(slots.results) = fold.finish(partial.combined(device, team));
  }
};

namespace detail {

/// Whether each reduction goes over rows of `count` elements side by side, in packets.
template <int... I, class... Folds>
bool folds_whole_rows(const tuple_base<std::integer_sequence<int, I...>, Folds...>& folds, index count) {
  return ((get<I>(folds).in_packets && get<I>(folds).count == count &&
           get<I>(folds).units.last_extent() * Folds::size == count) &&
          ...);
}

/// Which axis of the rows each axis of a statement is: itself before `RowAxis`, none from there on.
template <int Rank, int RowAxis>
constexpr array<int, Rank> axes_of_rows() {
  array<int, Rank> result{};
  for (int axis = 0; axis < Rank; ++axis) result[axis] = axis < RowAxis ? axis : -1;
  return result;
}

/// What `teams` teams keep of rows of `elements` elements; `extents` are those of the statement, no axes merged.
template <int RowAxis, class Folds, class Program, int Rank>
kept_choice<Folds::count> choose_kept(Folds& folds, Program& program, const array<index, Rank>& extents, index elements,
                                      int teams) {
  row_source_list<Rank> sources;
  array<int, Folds::count + 1> first{};
  for_each_index<Folds::count>([&](auto i) {
    auto& fold = get<i.value>(folds);
    first[i.value] = sources.add(fold.program, fold.in_result, extents);
  });
  first[Folds::count] = sources.add(program, axes_of_rows<Rank, RowAxis>(), extents);
  return {sources.kept(elements, teams), first};
}

}  // namespace detail

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
  const index row_elements = count_between(column_extents, 0, rank);
  const bool is_one_run = column_extents[rank - 1] == row_elements;
  const bool in_packets =
      size > 1 && column_extents[rank - 1] % size == 0 && lies_in_packets<size>(extents, target, program);
  if (in_packets) column_extents[rank - 1] /= size;
  const numbered_positions<rank> rows(row_extents);
  const row_writer<rank, size, Target, program_type> writer{numbered_positions<rank>(column_extents), target, program,
                                                            in_packets};
  const auto first_equal = first_equal_reductions(node);

  const int parts = rows.count() > few_rows ? 1 : parts_of_result(rows.count(), most_units(folds), kernel_block);
  if (parts > 1) return run_long_rows_kernel<Space, slots>(rows, writer, folds, first_equal, parts);

  const int team = fold_team(most_values(folds)), teams = kernel_block / team;
  kept_choice<folds_type::count> kept;
  if (in_packets && is_one_run && detail::folds_whole_rows(folds, row_elements)) {
    kept = detail::choose_kept<RowAxis>(lowered, program, result_extents, row_elements, teams);
  }
  const rows_kernel<rank, size, Target, program_type, folds_type, slots> kernel{rows,        writer, folds,
                                                                                first_equal, kept,   team};
  launch<Space>(launch_shape{.grid = {blocks_for(rows.count() * team)},
                             .block = kernel_block,
                             .shared_bytes = block_reduce_bytes + shared_bytes_of<unsigned char>(teams * kept.bytes)},
                kernel);
}

}  // namespace tenon
