// tenon/kernels/fold.hpp: one reduction as the threads of a team fold it.
// The order depends on the size of the team alone; values that lie side by side are read in packets of 16 bytes.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/collective.hpp>
#include <tenon/device/workspace.hpp>
#include <tenon/kernels/packets.hpp>
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

/// The threads that work on one result or row: neighbouring lanes of a warp, several warps, or a whole block.
struct row_team {
  int bits;  // it has 2^bits threads

  static constexpr int bits_of_warp = 5, bits_of_block = 8;
  static_assert(1 << bits_of_warp == warp_size && 1 << bits_of_block == kernel_block);

  TENON_HOST_DEVICE static constexpr row_team block() { return {bits_of_block}; }
  /// The fewest threads that take `of_lane` of `units` units each at most, or as warps `most`; a block where none do.
  static constexpr row_team for_units(index units, index of_lane, index most) {
    int bits = 0;
    while (bits < bits_of_block && units > (bits < bits_of_warp ? of_lane : most) << bits) ++bits;
    return {bits};
  }
  TENON_HOST_DEVICE constexpr bool is_block() const { return bits == bits_of_block; }
  TENON_HOST_DEVICE constexpr bool is_in_warp() const { return bits <= bits_of_warp; }
  TENON_HOST_DEVICE constexpr int size() const { return 1 << bits; }
  TENON_HOST_DEVICE constexpr int of_block() const { return kernel_block >> bits; }  // how many teams
  TENON_HOST_DEVICE constexpr int number(int thread) const { return thread >> bits; }
  TENON_HOST_DEVICE constexpr int lane(int thread) const { return thread & (size() - 1); }
};

/// The threads that fold one result of the most `values` values, which are read as `units` elements or packets. It
/// depends on these alone, and with it the order in which values combine.
constexpr row_team fold_team(index units, index values) {
  constexpr index values_of_thread = 16, units_of_lane = 4, units_of_thread = 8, values_of_warp = 1024;
  if (values <= values_of_thread) return {0};
  const row_team team = row_team::for_units(units, units_of_lane, units_of_thread);
  return values <= values_of_warp && !team.is_in_warp() ? row_team{row_team::bits_of_warp} : team;
}

/// What a thread has folded: a state of each lane of its packets.
template <class Monoid, class State, int Size>
struct lane_states {
  State lane[Size];

  TENON_HOST_DEVICE lane_states() {
    for (State& each : lane) each = Monoid::template identity<State>();
  }
  /// Adds value number `i` of the result to lane `k`.
  template <class Value>
  TENON_HOST_DEVICE void add(int k, const Value& value, index i) {
    lane[k] = Monoid::combine(lane[k], Monoid::template lift<State>(value, i));
  }
  /// The states of a team's threads combined, in each of them.
  template <class Device>
  TENON_HOST_DEVICE State combined(Device& device, row_team team) const {
    const auto combine = [](const State& left, const State& right) { return Monoid::combine(left, right); };
    State own = lane[0];
    TENON_UNROLLED
    for (int k = 1; k < Size; ++k) own = combine(own, lane[k]);
    return team_reduce(device, own, combine, team.size());
  }
};

/// The states that `parts` blocks have left of a result, combined in order, in each thread of a block.
template <class Monoid, class Device, class State>
TENON_HOST_DEVICE State combine_parts(Device& device, const State* left, int parts) {
  lane_states<Monoid, State, 1> partial;
  for (int part = device.thread(); part < parts; part += kernel_block) {
    partial.lane[0] = Monoid::combine(partial.lane[0], left[part]);
  }
  return partial.combined(device, row_team::block());
}

namespace detail {

/// Counts what lies side by side along the results, and along the values of each. What all values, or all results, have
/// in common is read rarely and does not count.
template <int Rank>
struct direction_check {
  int kept;
  int along_results = 0, along_values = 0;

  template <class T>
  void operator()(const array<index, Rank>& stride, const T*) {
    const index of_result = stride[kept - 1], of_value = stride[Rank - 1];
    if (of_result == 0 || of_value == 0) return;
    along_results += of_result == 1 ? 1 : 0;
    along_values += of_value == 1 ? 1 : 0;
  }
  void operator()(const array<index, Rank>&, index) {}
};

/// The extents of the values of a result, whose axes begin at `kept`, in packets of `size`.
template <int Rank>
array<index, Rank> units_of_result(array<index, Rank> extents, int kept, int size) {
  for (int axis = 0; axis < kept; ++axis) extents[axis] = 1;
  if constexpr (Rank > 0) extents[Rank - 1] /= size;
  return extents;
}

}  // namespace detail

/// A reduction whose values are found by number, one by one or in packets of `Size`.
template <class Fold, int Size>
struct kernel_fold {
  using monoid = typename Fold::monoid;
  using state = typename Fold::state;
  using value_type = typename Fold::value_type;
  using program_type = decltype(Fold::program);
  using lanes = lane_states<monoid, state, Size>;
  static constexpr int rank = Fold::rank, size = Size;
  /// Packets that are read at once: fewer where states, or numbers of 64 bits, take the registers.
  static constexpr int ahead = sizeof(lanes) > 32 || Size == 2 ? 1 : packets_of_thread<program_type, Size>;
  using fetched_type = decltype(fetch<Size>(std::declval<const program_type&>().at(array<index, rank>{})));

  program_type program;
  result_positions<rank> starts;
  bool in_packets;
  bool in_run;                     // the units of a result follow each other along its last axis
  index line_extent;               // values that follow each other along the last axis but one
  bool across;                     // neighbouring results have neighbouring values, a result has not
  int kept;                        // the axes before this one are the results'
  numbered_positions<rank> units;  // the values of a result, or their packets
  index count;                     // values per result

  template <int ResultRank>
  kernel_fold(Fold fold, const array<index, ResultRank>& result_extents)
      : program(fold.program),
        starts(fold.in_result, result_extents),
        in_packets(fits_packets(fold)),
        across(!in_packets && lies_across(fold, ResultRank - 1)),
        kept(fold.kept),
        units(detail::units_of_result(fold.extents, fold.kept, in_packets ? size : 1)),
        count(fold.count) {
    in_run = fold.kept < rank && units.is_one_run();
    line_extent = rank > 1 && fold.kept <= line ? fold.extents[line] : 1;
  }

  /// Adds unit number `i` of the result whose values start at `start`.
  template <class Slots>
  TENON_HOST_DEVICE void add(lanes& partial, const array<index, rank>& start, index i, const Slots& slots) const {
    auto position = start;
    if (in_run) {
      position[last] = in_packets ? i * size : i;  // reduced axes start at 0
    } else {
      const auto unit = units[i];
      for (int axis = 0; axis < rank; ++axis)
        position[axis] += axis == last && in_packets ? unit[axis] * size : unit[axis];
    }
    const auto cursor = bind_slots(program.at(position), slots);
    if (in_packets) {
      add_fetched(partial, cursor, fetch<size>(cursor), i);
    } else {
      partial.add(0, cursor.value(0, slots), i);
    }
  }
  /// Adds packet number `i` of a result whose packets follow each other; `reader` reads it.
  template <class Slots, class Reader>
  TENON_HOST_DEVICE void add_packet(lanes& partial, const array<index, rank>& start, index i, const Slots& slots,
                                    Reader reader) const {
    const auto cursor = packet_at(start, i, slots);
    add_fetched(partial, cursor, fetch<size>(cursor, reader), i);
  }
  /// Adds units number `first`, `first + step` and so on below `end`, `ahead` of them at most. Packets that follow each
  /// other are all read before any is added.
  template <class Slots>
  TENON_HOST_DEVICE void add_next(lanes& partial, const array<index, rank>& start, index first, index step, index end,
                                  const Slots& slots) const {
    if constexpr (size > 1) {
      if (in_packets && in_run) {
        if (first + (ahead - 1) * step < end) return add_packets<true>(partial, start, first, step, end, slots);
        return add_packets<false>(partial, start, first, step, end, slots);
      }
    }
    const index behind = first + ahead * step;
    for (index i = first; i < end && i < behind; i += step) add(partial, start, i, slots);
  }
  /// Adds all of these below `end`.
  template <class Slots>
  TENON_HOST_DEVICE void add_all(lanes& partial, const array<index, rank>& start, index first, index step, index end,
                                 const Slots& slots) const {
    for (index i = first; i < end; i += ahead * step) add_next(partial, start, i, step, end, slots);
  }
  /// Adds value number `i` of a result that is folded alone.
  template <class Lanes>
  TENON_HOST_DEVICE void add_one(Lanes& partial, const array<index, rank>& start, index i) const {
    auto position = units.after(kept, i);
    for (int axis = 0; axis < rank; ++axis) position[axis] += start[axis];
    partial.add(0, program.at(position).value(0, no_slots{}), i);
  }
  /// Adds values number `first`, `first + step` and so on below `end`, `Ahead` of them at most, of `Width` neighbouring
  /// results, the first of which starts at `start`; all are read before any is added. Results are neighbours along the
  /// last axis, as `turn_across` has made it.
  template <int Ahead, int Width>
  TENON_HOST_DEVICE void add_across(lane_states<monoid, state, Width>& partial, const array<index, rank>& start,
                                    index first, index step, index end) const {
    if (line_extent == count) return add_line<Ahead>(partial, start, 0, first, step, end);
    for (index i = first; i < end && i < first + Ahead * step; i += step) {
      add_line<1>(partial, moved(start, i), i, 0, 1, 1);
    }
  }
  /// Adds all values of `Width` neighbouring results, line by line.
  template <int Ahead, int Width>
  TENON_HOST_DEVICE void add_all_across(lane_states<monoid, state, Width>& partial,
                                        const array<index, rank>& start) const {
    for (index before = 0; before < count; before += line_extent) {
      const auto line_start = moved(start, before);
      for (index i = 0; i < line_extent; i += Ahead) add_line<Ahead>(partial, line_start, before, i, 1, line_extent);
    }
  }
  TENON_HOST_DEVICE value_type finish(const state& total) const {
    return monoid::template finish<value_type>(total, count);
  }

 private:
  static constexpr int last = rank == 0 ? 0 : rank - 1, line = rank < 2 ? 0 : rank - 2;

  template <class Slots>
  TENON_HOST_DEVICE auto packet_at(const array<index, rank>& start, index i, const Slots& slots) const {
    auto position = start;
    position[last] = i * size;
    return bind_slots(program.at(position), slots);
  }
  template <class Cursor, class Fetched>
  TENON_HOST_DEVICE void add_fetched(lanes& partial, const Cursor& cursor, const Fetched& fetched, index i) const {
    TENON_UNROLLED
    for (int k = 0; k < size; ++k) partial.add(k, value_from(cursor, fetched, k), i * size + k);
  }
  template <bool Whole, class Slots>
  TENON_HOST_DEVICE void add_packets(lanes& partial, const array<index, rank>& start, index first, index step,
                                     index end, const Slots& slots) const {
    decltype(fetch<size>(packet_at(start, first, slots))) fetched[ahead]{};
    TENON_UNROLLED
    for (int j = 0; j < ahead; ++j) {
      const index i = first + j * step;
      if (Whole || i < end) fetched[j] = fetch<size>(packet_at(start, i, slots));
    }
    TENON_UNROLLED
    for (int j = 0; j < ahead; ++j) {
      const index i = first + j * step;
      if (Whole || i < end) add_fetched(partial, packet_at(start, i, slots), fetched[j], i);
    }
  }
  /// Where value number `i` of a result lies that starts at `start`.
  TENON_HOST_DEVICE array<index, rank> moved(const array<index, rank>& start, index i) const {
    auto position = units.after(kept, i);
    for (int axis = 0; axis < rank; ++axis) position[axis] += start[axis];
    return position;
  }
  /// Adds values `first`, `first + step` and so on below `end`, `Ahead` of them at most, of a line that starts at
  /// `start` behind `before` values.
  template <int Ahead, int Width>
  TENON_HOST_DEVICE void add_line(lane_states<monoid, state, Width>& partial, const array<index, rank>& start,
                                  index before, index first, index step, index end) const {
    if (first + (Ahead - 1) * step < end) add_values<Ahead, true>(partial, start, before, first, step, end);
    else add_values<Ahead, false>(partial, start, before, first, step, end);
  }
  template <int Ahead, bool Whole, int Width>
  TENON_HOST_DEVICE void add_values(lane_states<monoid, state, Width>& partial, const array<index, rank>& start,
                                    index before, index first, index step, index end) const {
    const auto cursor_at = [&](int number) {
      const index i = first + number * step;
      auto position = start;
      position[line] += Whole || i < end ? i : end - 1;
      return program.at(position);
    };
    decltype(fetch<Width>(cursor_at(0))) fetched[Ahead];
    TENON_UNROLLED
    for (int j = 0; j < Ahead; ++j) fetched[j] = fetch<Width>(cursor_at(j));
    TENON_UNROLLED
    for (int j = 0; j < Ahead; ++j) {
      const index i = first + j * step;
      if (!Whole && i >= end) return;
      const auto cursor = cursor_at(j);
      TENON_UNROLLED
      for (int k = 0; k < Width; ++k) partial.add(k, value_from(cursor, fetched[j], k), before + i);
    }
  }
  static bool fits_packets(Fold& fold) {
    if constexpr (rank == 0 || size == 1 || !visits_all_reads<program_type>) {
      return false;
    } else {
      detail::packet_check<rank, size> check{fold.extents};
      fold.program.visit(check);
      return fold.kept < rank && check.fits && fold.run_length() % size == 0;
    }
  }
  static bool lies_across(Fold& fold, int last_of_result) {
    if (fold.kept == 0 || fold.kept == rank || fold.in_result[fold.kept - 1] != last_of_result) return false;
    detail::direction_check<rank> check{fold.kept};
    fold.program.visit(check);
    return check.along_results > check.along_values;
  }
};

/// The states of a thread for these reductions.
template <class... Folds>
constexpr auto lanes_of(const tuple<Folds...>&) {
  return tuple<typename Folds::lanes...>{};
}

/// The packets of a reduction's program by itself.
template <class Fold>
inline constexpr int fold_packet = packet_size<char, decltype(Fold::program)>;

/// Lowered reductions as kernels fold them; results are numbered in `result_extents`.
template <int... I, class... Folds, int ResultRank>
auto kernel_folds_of(const detail::tuple_base<std::integer_sequence<int, I...>, Folds...>& folds,
                     const array<index, ResultRank>& result_extents) {
  return make_tuple_of(kernel_fold<Folds, fold_packet<Folds>>(get<I>(folds), result_extents)...);
}

/// Places in a workspace for the states of these reductions.
template <class Space, class... Folds>
constexpr auto state_places_of(const tuple<Folds...>&) {
  return workspace_places<Space, typename Folds::state...>{};
}

/// The slots that these reductions fill.
template <class... Folds>
constexpr auto slots_of(const tuple<Folds...>&) {
  return result_slots<typename Folds::value_type...>{};
}

/// The most units, and the most values, of a result of any of these reductions.
template <int... I, class... Folds>
index most_units(const detail::tuple_base<std::integer_sequence<int, I...>, Folds...>& folds) {
  index most = 0;
  ((most = get<I>(folds).units.count() > most ? get<I>(folds).units.count() : most), ...);
  return most;
}
template <int... I, class... Folds>
index most_values(const detail::tuple_base<std::integer_sequence<int, I...>, Folds...>& folds) {
  index most = 0;
  ((most = get<I>(folds).count > most ? get<I>(folds).count : most), ...);
  return most;
}

}  // namespace tenon
