// tenon/kernels/reduce.hpp: the kernel of statements that reduce.
// A team of threads folds the values of one result in a fixed order, then one of them applies what follows and stores.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/collective.hpp>
#include <tenon/device/launch.hpp>
#include <tenon/kernels/positions.hpp>
#include <tenon/plan/iterate.hpp>
#include <tenon/plan/sharing.hpp>

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

namespace detail {
inline constexpr index most_for_thread = 16, most_for_warp = 1024;
}

/// How many threads fold one result of the most `count` values: one, a warp or a block, so that few wait.
constexpr int fold_team(index count) {
  return count <= detail::most_for_thread ? 1 : count <= detail::most_for_warp ? warp_size : kernel_block;
}

/// The most values that a reduction of a statement folds.
template <class... Folds>
constexpr index most_values(const tuple<Folds...>& folds) {
  index most = 0;
  for_each_index<static_cast<int>(sizeof...(Folds))>([&](auto i) {
    if (get<i.value>(folds).count > most) most = get<i.value>(folds).count;
  });
  return most;
}

/// The states of a team's threads combined, in each of them.
template <class Monoid, class Device, class State>
TENON_HOST_DEVICE State combine_in_team(Device& device, int team, const State& partial) {
  const auto combine = [](const State& left, const State& right) { return Monoid::combine(left, right); };
  if (team == 1) return partial;
  return team == warp_size ? warp_reduce(device, partial, combine) : block_reduce(device, partial, combine);
}

/// `partial` with value number i of the result whose values start at `here`.
template <class State, class Fold, class Position, class Slots>
TENON_HOST_DEVICE State add_value_at(const State& partial, const Fold& fold, Position& here, index i,
                                     const Slots& slots) {
  set_position(here, fold.extents, fold.kept, Fold::rank, i);
  const auto value = fold.program.at(here).value(0, slots);
  return Fold::monoid::combine(partial, Fold::monoid::template lift<State>(value, i));
}

/// Folds one result with a team of threads; each of them receives it.
template <class Device, class Fold, class Position, class Slots>
TENON_HOST_DEVICE typename Fold::value_type fold_in_team(Device& device, int team, const Fold& fold, Position here,
                                                         const Slots& slots) {
  using monoid = typename Fold::monoid;
  using state = typename Fold::state;
  state partial = monoid::template identity<state>();
  for (index i = device.thread() % team; i < fold.count; i += team) {
    partial = add_value_at(partial, fold, here, i, slots);
  }
  return monoid::template finish<typename Fold::value_type>(combine_in_team<monoid>(device, team, partial), fold.count);
}

/// One team per position of the result.
template <int Rank, class Target, class Program, class Folds, class Slots>
struct reduce_kernel {
  static constexpr const char* name = "reduce";
  array<index, Rank> extents;
  Target target;
  Program program;
  Folds folds;
  array<int, Folds::count> first_equal;
  index most;  // values of a result, of any reduction
  int team;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const index count = count_between(extents, 0, Rank), teams = device.block_size() / team;
    for (index i = device.block().x * teams + device.thread() / team; i < count; i += device.grid_size().x * teams) {
      array<index, Rank> position{};
      set_position(position, extents, 0, Rank, i);
      Slots slots{};
      fold_all(device, position, slots, std::make_integer_sequence<int, Folds::count>{});
      if (device.thread() % team == 0) target.store(position, program.at(position).value(0, slots));
    }
  }

 private:
  template <int I>
  using fold_type = std::remove_cvref_t<decltype(get<I>(std::declval<const Folds&>()))>;

  /// All reductions value by value, so that what they read in common is in cache.
  template <class Device, int... I>
  TENON_HOST_DEVICE void fold_all(Device& device, const array<index, Rank>& position, Slots& slots,
                                  std::integer_sequence<int, I...>) const {
    auto partial = make_tuple_of(fold_type<I>::monoid::template identity<typename fold_type<I>::state>()...);
    auto here = make_tuple_of(get<I>(folds).start_of(position)...);
    for (index i = device.thread() % team; i < most; i += team) {
      (add_value<I>(get<I>(partial), get<I>(here), i), ...);
    }
    (finish_one<I>(device, get<I>(partial), slots), ...);
  }
  template <int I, class State, class Position>
  TENON_HOST_DEVICE void add_value(State& partial, Position& here, index i) const {
    const auto& fold = get<I>(folds);
    if (first_equal[I] != I || i >= fold.count) return;
    partial = add_value_at(partial, fold, here, i, no_slots{});
  }
  template <int I, class Device, class State>
  TENON_HOST_DEVICE void finish_one(Device& device, const State& partial, Slots& slots) const {
    using fold = fold_type<I>;
    if (copy_equal_slot<I>(slots.results, first_equal)) return;
    get<I>(slots.results) = fold::monoid::template finish<typename fold::value_type>(
        combine_in_team<typename fold::monoid>(device, team, partial), get<I>(folds).count);
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
  const index most = most_values(folds);
  const reduce_kernel<rank, Target, std::remove_const_t<decltype(program)>, std::remove_const_t<decltype(folds)>, slots>
      kernel{extents, target, program, folds, first_equal_reductions(node), most, fold_team(most)};
  launch<Space>(launch_shape{.grid = {blocks_for(node.shape().count() * kernel.team)},
                             .block = kernel_block,
                             .shared_bytes = block_reduce_bytes},
                kernel);
}

}  // namespace tenon
