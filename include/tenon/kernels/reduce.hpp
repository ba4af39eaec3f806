// tenon/kernels/reduce.hpp: the kernel of statements that reduce.
// A team of threads, or several blocks, folds the values of one result in a fixed order; the last applies what follows.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/kernels/columns.hpp>
#include <tenon/plan/sharing.hpp>

namespace tenon {

/// Units of each reduction that a thread folds before it turns to the next one.
template <class... Folds>
constexpr int units_ahead(const tuple<Folds...>*) {
  int most = 1;
  ((most = Folds::ahead > most ? Folds::ahead : most), ...);
  return most;
}

/// One team per position of the result, or several blocks.
template <int Rank, class Target, class Program, class Folds, class Slots, class States>
struct reduce_kernel {
  static constexpr const char* name = "reduce";
  static constexpr int ahead = units_ahead(static_cast<const Folds*>(nullptr));
  static constexpr int min_blocks = ahead > 1 ? resident_blocks : 3;  // large states take 85 registers
  numbered_positions<Rank> positions;
  Target target;
  Program program;
  Folds folds;
  array<int, Folds::count> first_equal;
  index units;  // of a result, of any reduction
  row_team team;
  int parts;
  unsigned* counters;  // of a result's blocks that are done
  States states;       // what they leave, part after part of a result

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    constexpr std::make_integer_sequence<int, Folds::count> all_folds{};
    if (parts > 1) return fold_part(device, device.block().x / parts, device.block().x % parts, all_folds);
    const index teams = team.of_block(), own = team.number(device.thread());
    for (index first = device.block().x * teams; first < positions.count(); first += device.grid_size().x * teams) {
      const bool is_result = first + own < positions.count();  // a team without one meets its warp in all shuffles
      const index result = is_result ? first + own : first;
      Slots slots{};
      fold_all(device, result, is_result ? units : 0, slots, all_folds);
      if (is_result && team.lane(device.thread()) == 0) store(result, slots);
    }
  }

 private:
  TENON_HOST_DEVICE void store(index result, const Slots& slots) const {
    const auto position = positions[result];
    target.store(position, program.at(position).value(0, slots));
  }
  /// All reductions unit by unit, so that what they read in common is in cache.
  template <class Device, int... I>
  TENON_HOST_DEVICE void fold_all(Device& device, index result, index end, Slots& slots,
                                  std::integer_sequence<int, I...>) const {
    decltype(lanes_of(folds)) partial;
    const auto start = make_tuple_of(get<I>(folds).starts[result]...);
    for (index i = team.lane(device.thread()); i < end; i += ahead * team.size()) {
      (add_next<I>(get<I>(partial), get<I>(start), i, end), ...);
    }
    (finish_one<I>(device, get<I>(partial), slots), ...);
  }
  /// A part of one result. The block that is the last to leave its states finishes the result.
  template <class Device, int... I>
  TENON_HOST_DEVICE void fold_part(Device& device, index result, index part, std::integer_sequence<int, I...>) const {
    decltype(lanes_of(folds)) partial;
    const auto start = make_tuple_of(get<I>(folds).starts[result]...);
    const index first = units * part / parts, end = units * (part + 1) / parts;
    for (index i = first + device.thread(); i < end; i += ahead * team.size()) {
      (add_next<I>(get<I>(partial), get<I>(start), i, end), ...);
    }
    (leave_state<I>(device, get<I>(partial), result * parts + part), ...);
    if (!is_last_block(device, counters + result, parts)) return;
    Slots slots{};
    (set_slot<I>(device, result, slots), ...);
    if (device.thread() == 0) store(result, slots);
  }
  template <int I, class Device, class Lanes>
  TENON_HOST_DEVICE void leave_state(Device& device, const Lanes& partial, index place) const {
    if (first_equal[I] != I) return;
    const auto total = partial.combined(device, team);
    if (device.thread() == 0) get<I>(states)[place] = total;
  }
  template <int I, class Device>
  TENON_HOST_DEVICE void set_slot(Device& device, index result, Slots& slots) const {
    if (copy_equal_slot<I>(slots.results, first_equal)) return;
    const auto& fold = get<I>(folds);
    using monoid = typename std::remove_cvref_t<decltype(fold)>::monoid;
    get<I>(slots.results) = fold.finish(combine_parts<monoid>(device, get<I>(states) + result * parts, parts));
  }
  template <int I, class Lanes, class Position>
  TENON_HOST_DEVICE void add_next(Lanes& partial, const Position& start, index first, index end) const {
    if (first_equal[I] != I) return;
    const auto& fold = get<I>(folds);
    const index own_end = end < fold.units.count() ? end : fold.units.count();
    TENON_UNROLLED
    for (int done = 0; done < ahead; done += fold.ahead) {
      fold.add_next(partial, start, first + done * team.size(), team.size(), own_end, no_slots{});
    }
  }
  template <int I, class Device, class Lanes>
  TENON_HOST_DEVICE void finish_one(Device& device, const Lanes& partial, Slots& slots) const {
    if (copy_equal_slot<I>(slots.results, first_equal)) return;
    get<I>(slots.results) = get<I>(folds).finish(partial.combined(device, team));
  }
};

/// Evaluates a statement of the form `reduce` into `target`, in one launch.
template <class Space, class Target, class E>
void run_reduce_kernel(const Target& target, const E& node) {
  constexpr int rank = E::shape_type::rank;
  const auto extents = node.shape().to_array();
  const auto program = node.template lower<0>(identity_map<rank>());
  auto lowered = lower_reductions(node, extents);
  auto folds = kernel_folds_of(lowered, extents);
  using program_type = std::remove_const_t<decltype(program)>;
  using folds_type = decltype(folds);
  using slots = decltype(slots_of(folds));
  using places = decltype(state_places_of<Space>(folds));
  const numbered_positions<rank> positions(extents);
  const auto first_equal = first_equal_reductions(node);
  const index results = positions.count();
  if (folds_columns(folds, extents)) {
    using kernel_type = columns_kernel<rank, Target, program_type, folds_type, slots, decltype(places{}.values)>;
    constexpr int width = kernel_type::width;
    const index rows = most_values(folds);
    const bool in_packets = turn_all_across<width>(lowered, extents[rank == 0 ? 0 : rank - 1]);
    if (in_packets) folds = kernel_folds_of(lowered, extents);
    const column_team team = team_of_columns(results, rows, in_packets ? width : 1);
    const index groups = (results + team.group() - 1) / team.group();
    const int parts = parts_of_result(groups, rows, team.rows());
    const auto left = places::take(parts == 1 ? 0 : groups * parts * team.group());
    const kernel_type kernel{positions,
                             target,
                             program,
                             folds,
                             first_equal,
                             team,
                             lies_in_packets<width>(extents, target, program),
                             rows,
                             parts,
                             left.counters,
                             left.values};
    const launch_shape shape{
        .grid = {static_cast<int>(groups * parts)}, .block = kernel_block, .shared_bytes = column_bytes};
    launch<Space>(shape, kernel);
    return left.launched();
  }
  const index units = most_units(folds);
  const row_team team = fold_team(units, most_values(folds));
  const int parts = team.is_block() ? parts_of_result(results, units, kernel_block) : 1;
  const auto left = places::take(parts == 1 ? 0 : results * parts);
  const reduce_kernel<rank, Target, program_type, folds_type, slots, decltype(left.values)> kernel{
      positions, target, program, folds, first_equal, units, team, parts, left.counters, left.values};
  launch<Space>(
      launch_shape{.grid = {parts > 1 ? static_cast<int>(results * parts) : blocks_for(results * team.size())},
                   .block = kernel_block,
                   .shared_bytes = block_reduce_bytes},
      kernel);
  left.launched();
}

}  // namespace tenon
