// tenon/kernels/rows.hpp: the kernel of row-resident statements.
// A team of threads owns a row: it folds reduction by reduction, each seeing the ones before, and then writes the row.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/kernels/reduce.hpp>

namespace tenon {

/// One team per row; rows are the axes from `RowAxis` on.
template <int Rank, int RowAxis, class Target, class Program, class Folds, class Slots>
struct rows_kernel {
  static constexpr const char* name = "rows";
  array<index, Rank> extents;
  Target target;
  Program program;
  Folds folds;
  array<int, Folds::count> first_equal;
  int team;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const index rows = count_between(extents, 0, RowAxis), length = count_between(extents, RowAxis, Rank);
    const index teams = device.block_size() / team;
    for (index row = device.block().x * teams + device.thread() / team; row < rows;
         row += device.grid_size().x * teams) {
      array<index, Rank> position{};
      set_position(position, extents, 0, RowAxis, row);
      Slots slots{};
      fold_all(device, position, slots, std::make_integer_sequence<int, Folds::count>{});
      for (index i = device.thread() % team; i < length; i += team) {
        set_position(position, extents, RowAxis, Rank, i);
        target.store(position, program.at(position).value(0, slots));
      }
    }
  }

 private:
  template <class Device, int... I>
  TENON_HOST_DEVICE void fold_all(Device& device, const array<index, Rank>& position, Slots& slots,
                                  std::integer_sequence<int, I...>) const {
    (fold_one<I>(device, position, slots), ...);
  }
  template <int I, class Device>
  TENON_HOST_DEVICE void fold_one(Device& device, const array<index, Rank>& position, Slots& slots) const {
    if (copy_equal_slot<I>(slots.results, first_equal)) return;
    get<I>(slots.results) = fold_in_team(device, team, get<I>(folds), position, slots);
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
  const auto folds = lower_reductions<0>(node, [&]<int FirstSlot>(constant<FirstSlot>, const auto& reduction) {
    return lower_reduction<FirstSlot>(reduction, result_extents, false);
  });
  using slots = decltype(apply_tuple(
      [](const auto&... fold) { return result_slots<typename std::remove_cvref_t<decltype(fold)>::value_type...>{}; },
      folds));
  const rows_kernel<rank, RowAxis, Target, decltype(program), std::remove_const_t<decltype(folds)>, slots> kernel{
      extents, target, program, folds, first_equal_reductions(node), fold_team(most_values(folds))};
  launch<Space>(launch_shape{.grid = {blocks_for(count_between(extents, 0, RowAxis) * kernel.team)},
                             .block = kernel_block,
                             .shared_bytes = block_reduce_bytes},
                kernel);
}

}  // namespace tenon
