// tenon/kernels/reduce.hpp: the kernel of statements that reduce.
// A team of threads folds the values of one result in a fixed order, then one of them applies what follows and stores.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/kernels/fold.hpp>
#include <tenon/plan/sharing.hpp>

namespace tenon {

/// One team per position of the result.
template <int Rank, class Target, class Program, class Folds, class Slots>
struct reduce_kernel {
  static constexpr const char* name = "reduce";
  static constexpr int min_blocks = resident_blocks;
  numbered_positions<Rank> positions;
  Target target;
  Program program;
  Folds folds;
  array<int, Folds::count> first_equal;
  index units;  // of a result, of any reduction
  int team;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const index teams = device.block_size() / team;
    for (index i = device.block().x * teams + device.thread() / team; i < positions.count();
         i += device.grid_size().x * teams) {
      Slots slots{};
      fold_all(device, i, slots, std::make_integer_sequence<int, Folds::count>{});
      if (device.thread() % team != 0) continue;
      const auto position = positions[i];
      target.store(position, program.at(position).value(0, slots));
    }
  }

 private:
  /// All reductions unit by unit, so that what they read in common is in cache.
  template <class Device, int... I>
  TENON_HOST_DEVICE void fold_all(Device& device, index result, Slots& slots, std::integer_sequence<int, I...>) const {
    auto partial = make_tuple_of(get<I>(folds).none()...);
    const auto start = make_tuple_of(get<I>(folds).starts[result]...);
    for (index i = device.thread() % team; i < units; i += team) {
      (add_unit<I>(get<I>(partial), get<I>(start), i), ...);
    }
    (finish_one<I>(device, get<I>(partial), slots), ...);
  }
  template <int I, class Lanes, class Position>
  TENON_HOST_DEVICE void add_unit(Lanes& partial, const Position& start, index i) const {
    const auto& fold = get<I>(folds);
    if (first_equal[I] == I && i < fold.units.count()) fold.add(partial, start, i, no_slots{});
  }
  template <int I, class Device, class Lanes>
  TENON_HOST_DEVICE void finish_one(Device& device, const Lanes& partial, Slots& slots) const {
    if (copy_equal_slot<I>(slots.results, first_equal)) return;
    get<I>(slots.results) = get<I>(folds).finish(device, team, partial);
  }
};

/// Evaluates a statement of the form `reduce` into `target`, in one launch.
template <class Space, class Target, class E>
void run_reduce_kernel(const Target& target, const E& node) {
  constexpr int rank = E::shape_type::rank;
  const auto extents = node.shape().to_array();
  const auto program = node.template lower<0>(identity_map<rank>());
  const auto folds =
      make_kernel_folds(lower_reductions<0>(node,
                                            [&]<int FirstSlot>(constant<FirstSlot>, const auto& reduction) {
                                              return lower_reduction<FirstSlot>(reduction, extents, false);
                                            }),
                        extents);
  using slots = decltype(slots_of(folds));
  const reduce_kernel<rank, Target, std::remove_const_t<decltype(program)>, std::remove_const_t<decltype(folds)>, slots>
      kernel{numbered_positions<rank>(extents), target, program, folds, first_equal_reductions(node), most_units(folds),
             fold_team(most_values(folds))};
  launch<Space>(launch_shape{.grid = {blocks_for(node.shape().count() * kernel.team)},
                             .block = kernel_block,
                             .shared_bytes = block_reduce_bytes},
                kernel);
}

}  // namespace tenon
