// tenon/kernels/reduce.hpp: the kernel of statements that reduce.
// One block folds the values of one result in a fixed order, then one thread applies what follows and stores.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/collective.hpp>
#include <tenon/device/launch.hpp>
#include <tenon/plan/iterate.hpp>

namespace tenon {

/// Reductions that are finished so far, for the programs that follow.
template <class... Values>
struct result_slots {
  tuple<Values...> results;

  template <int Slot>
  TENON_HOST_DEVICE auto value(index) const {
    return get<Slot>(results);
  }
};

/// Folds one result with all threads of the block; every thread receives it.
template <class Device, class Fold, class Position, class Slots>
TENON_HOST_DEVICE typename Fold::value_type fold_in_block(Device& device, const Fold& fold, Position here,
                                                          const Slots& slots) {
  using monoid = typename Fold::monoid;
  using state = typename Fold::state;
  state partial = monoid::template identity<state>();
  for (index i = device.thread(); i < fold.count; i += device.block_size()) {
    set_position(here, fold.extents, fold.kept, Fold::rank, i);
    const auto value = fold.program.at(here).value(0, slots);
    partial = monoid::combine(partial, monoid::template lift<state>(value, i));
  }
  const state total =
      block_reduce(device, partial, [](const state& left, const state& right) { return monoid::combine(left, right); });
  return monoid::template finish<typename Fold::value_type>(total, fold.count);
}

/// One block per position of the result.
template <int Rank, class Target, class Program, class Folds, class Slots>
struct reduce_kernel {
  static constexpr const char* name = "reduce";
  array<index, Rank> extents;
  Target target;
  Program program;
  Folds folds;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const index count = count_between(extents, 0, Rank);
    for (index i = device.block().x; i < count; i += device.grid_size().x) {
      array<index, Rank> position{};
      set_position(position, extents, 0, Rank, i);
      Slots slots{};
      fold_all(device, position, slots, std::make_integer_sequence<int, Folds::count>{});
      if (device.thread() == 0) {
        auto& element = *target.at(position);
        element = static_cast<std::remove_reference_t<decltype(element)>>(program.at(position).value(0, slots));
      }
    }
  }

 private:
  template <class Device, int... I>
  TENON_HOST_DEVICE void fold_all(Device& device, const array<index, Rank>& position, Slots& slots,
                                  std::integer_sequence<int, I...>) const {
    ((get<I>(slots.results) = fold_in_block(device, get<I>(folds), start_of(get<I>(folds), position), slots)), ...);
  }
  template <class Fold>
  TENON_HOST_DEVICE static auto start_of(const Fold& fold, const array<index, Rank>& position) {
    if constexpr (Fold::rank == Rank) {
      return fold.reordered(position);
    } else {
      return array<index, Fold::rank>{};
    }
  }
};

/// Evaluates a statement of the form `reduce` into `target`, in one launch.
template <class Space, class Target, class E>
void run_reduce_kernel(const Target& target, const E& node) {
  constexpr int rank = E::shape_type::rank;
  const auto extents = node.shape().to_array();
  const auto program = node.template lower<0>(identity_map<rank>());
  const auto folds = lower_reductions<0>(node, [&]<int FirstSlot>(constant<FirstSlot>, const auto& reduction) {
    return lower_reduction<FirstSlot>(reduction, extents, false);
  });
  using slots = decltype(apply_tuple(
      [](const auto&... fold) { return result_slots<typename std::remove_cvref_t<decltype(fold)>::value_type...>{}; },
      folds));
  const reduce_kernel<rank, Target, std::remove_const_t<decltype(program)>, std::remove_const_t<decltype(folds)>, slots>
      kernel{extents, target, program, folds};
  const index count = node.shape().count();
  const int grid = static_cast<int>(count < 65536 ? count : 65536);
  launch<Space>(launch_shape{.grid = {grid}, .block = 256, .shared_bytes = block_reduce_bytes}, kernel);
}

}  // namespace tenon
