// tenon/kernels/columns.hpp: the kernel of statements that reduce across memory, such as sums of columns.
// Neighbouring threads fold neighbouring results, whose values lie side by side; rows are shared by warps and blocks.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/workspace.hpp>
#include <tenon/kernels/fold.hpp>
#include <tenon/plan/sharing.hpp>

namespace tenon {

inline constexpr int column_bytes = kernel_block * lane_value_bytes;  // of shared memory

/// How the threads of a block share its results: `lanes` of them side by side, each with the `width` neighbours of a
/// packet, and several rows of such threads, which take turns with the values.
struct column_team {
  int lane_bits, width;

  TENON_HOST_DEVICE int lanes() const { return 1 << lane_bits; }
  TENON_HOST_DEVICE int rows() const { return kernel_block >> lane_bits; }
  TENON_HOST_DEVICE int group() const { return width << lane_bits; }  // results of a block
  TENON_HOST_DEVICE int lane(int thread) const { return thread & (lanes() - 1); }
  TENON_HOST_DEVICE int row(int thread) const { return thread >> lane_bits; }
};

/// The team for `results` of `values` each: one thread folds few values alone, and some where results are very many.
/// Lanes side by side fill lines of 128 bytes; there are more of them, so that fewer threads share a result, where
/// values are not many and blocks remain many.
constexpr column_team team_of_columns(index results, index values, int width) {
  constexpr index few = 16, some = 64, many = 256, many_blocks = 128;
  const auto blocks = [&](int lane_bits) { return results / (index{width} << lane_bits); };
  if (values <= few || (values <= some && blocks(8) >= 8 * many_blocks)) return {8, width};
  if (width == 1 || values <= some) return {5, width};
  return {values <= many && blocks(5) >= many_blocks ? 5 : 3, width};
}

/// The most neighbouring results that a thread folds: a packet of each reduction, whose states fit its registers.
template <class... Folds>
constexpr int column_width(const tuple<Folds...>*) {
  constexpr int most_bytes = 96;
  int width = 8, bytes = 0;
  ((width = Folds::size < width ? Folds::size : width), ...);
  ((bytes += static_cast<int>(sizeof(typename Folds::state))), ...);
  while (width > 1 && width * bytes > most_bytes) width /= 2;
  return width;
}

/// Values of each of `width` results that a thread reads before it adds them: four where they take one packet and
/// states leave the registers, two elsewhere.
template <class... Folds>
constexpr int rows_ahead(const tuple<Folds...>*, int width) {
  constexpr int most_bytes = 48;
  const int bytes = (0 + ... + static_cast<int>(sizeof(typename Folds::state)));
  return width * bytes <= most_bytes && ((source_count<typename Folds::program_type> <= 1) && ...) ? 4 : 2;
}

/// The states of a column's threads combined in order, in the first of them.
template <class Monoid, class Device, class State>
TENON_HOST_DEVICE void combine_rows(Device& device, const column_team& team, State& own) {
  const int used = device.shared_used();
  const auto shared = device.template shared<State>(kernel_block);
  shared.store(device.thread(), own);
  device.sync();
  if (device.thread() < team.lanes()) {
    for (int row = 1; row < team.rows(); ++row) {
      own = Monoid::combine(own, shared.load(row * team.lanes() + device.thread()));
    }
  }
  device.sync();
  device.release_shared(used);
}

/// Reductions that are finished, of neighbouring results.
template <class Slots, int Width>
struct slots_of_neighbours {
  array<Slots, Width> each;

  template <int Slot, class T>
  struct cursor_of {
    static constexpr int widest = simd::lane_bytes<T>;
    array<Slots, Width> each;

    template <class Other>
    TENON_HOST_DEVICE TENON_INLINE T value(index i, const Other&) const {
      return static_cast<T>(each[static_cast<int>(i)].template value<Slot>(0));
    }
  };
  template <int Slot, class T>
  TENON_HOST_DEVICE TENON_INLINE cursor_of<Slot, T> cursor() const {
    return {each};
  }
};

/// A block, or several, for each group of neighbouring results.
template <int Rank, class Target, class Program, class Folds, class Slots, class States>
struct columns_kernel {
  static constexpr const char* name = "reduce";
  static constexpr int min_blocks = resident_blocks;
  static constexpr int width = column_width(static_cast<const Folds*>(nullptr));
  static constexpr int ahead = rows_ahead(static_cast<const Folds*>(nullptr), width);
  numbered_positions<Rank> positions;
  Target target;
  Program program;
  Folds folds;
  array<int, Folds::count> first_equal;
  column_team threads;
  bool stores_packets;  // of `width` results
  index rows;           // values of a result, of any reduction
  int parts;
  unsigned* counters;  // of a group's blocks that are done
  States states;       // what they leave: groups of results, part after part

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    constexpr std::make_integer_sequence<int, Folds::count> all_folds{};
    const index group = device.block().x / parts, part = device.block().x % parts;
    if constexpr (width > 1) {
      if (threads.width == width) return fold_part<width>(device, group, part, all_folds);
    }
    fold_part<1>(device, group, part, all_folds);
  }

 private:
  template <int I>
  using fold_type = std::remove_cvref_t<decltype(get<I>(std::declval<const Folds&>()))>;
  template <int I>
  using monoid_of = typename fold_type<I>::monoid;
  template <int I, int Width>
  using lanes_of_fold = lane_states<monoid_of<I>, typename fold_type<I>::state, Width>;

  template <int Width, class Device, int... I>
  TENON_HOST_DEVICE void fold_part(Device& device, index group, index part, std::integer_sequence<int, I...>) const {
    const int lane = threads.lane(device.thread()), row = threads.row(device.thread()), step = threads.rows();
    const index result = group * threads.group() + lane * Width;
    tuple<lanes_of_fold<I, Width>...> partial;
    if (result < positions.count()) {
      const auto start = make_tuple_of(get<I>(folds).starts[result]...);
      const index end = rows * (part + 1) / parts;
      if (Width > 1 && step == 1 && parts == 1) (add_alone<I, Width>(get<I>(partial), get<I>(start)), ...);
      else
        for (index i = rows * part / parts + row; i < end; i += (Width > 1 ? ahead : 1) * step) {
          (add_rows<I, Width>(get<I>(partial), get<I>(start), i, step, end), ...);
        }
    }
    (combine_all<I>(device, get<I>(partial)), ...);
    if (parts > 1) {
      const index left = group * parts * threads.group();
      if (row == 0) (leave_states<I>(get<I>(partial), left + part * threads.group() + lane * Width), ...);
      if (!is_last_block(device, counters + group, parts)) return;
      (combine_parts_of_columns<I>(device, get<I>(partial), left + lane * Width), ...);
    }
    if (row != 0 || result >= positions.count()) return;
    slots_of_neighbours<Slots, Width> slots{};
    TENON_UNROLLED
    for (int k = 0; k < Width; ++k) (set_slot<I>(slots.each[k], get<I>(partial).lane[k]), ...);
    store(result, slots);
  }
  template <int I, int Width, class Lanes, class Position>
  TENON_HOST_DEVICE void add_alone(Lanes& partial, const Position& start) const {
    if constexpr (Width > 1) {
      if (first_equal[I] == I) get<I>(folds).template add_all_across<ahead>(partial, start);
    }
  }
  template <int I, int Width, class Lanes, class Position>
  TENON_HOST_DEVICE void add_rows(Lanes& partial, const Position& start, index i, index step, index end) const {
    const auto& fold = get<I>(folds);
    if (first_equal[I] != I || i >= fold.count) return;
    if constexpr (Width > 1)
      fold.template add_across<ahead>(partial, start, i, step, end < fold.count ? end : fold.count);
    else fold.add_one(partial, start, i);
  }
  template <int I, class Device, class Lanes>
  TENON_HOST_DEVICE void combine_all(Device& device, Lanes& partial) const {
    if (threads.rows() == 1) return;
    TENON_UNROLLED
    for (auto& each : partial.lane) combine_rows<monoid_of<I>>(device, threads, each);
  }
  template <int I, class Lanes>
  TENON_HOST_DEVICE void leave_states(const Lanes& partial, index place) const {
    TENON_UNROLLED
    for (const auto& each : partial.lane) get<I>(states)[place++] = each;
  }
  /// Combines the partial results that blocks have left for columns, the first of which are at `place`.
  template <int I, class Device, class Lanes>
  TENON_HOST_DEVICE void combine_parts_of_columns(Device& device, Lanes& partial, index place) const {
    TENON_UNROLLED
    for (auto& each : partial.lane) {
      each = monoid_of<I>::template identity<std::remove_reference_t<decltype(each)>>();
      for (int part = threads.row(device.thread()); part < parts; part += threads.rows()) {
        each = monoid_of<I>::combine(each, get<I>(states)[place + index{part} * threads.group()]);
      }
      combine_rows<monoid_of<I>>(device, threads, each);
      ++place;
    }
  }
  template <int I, class State>
  TENON_HOST_DEVICE void set_slot(Slots& slots, const State& total) const {
    if (copy_equal_slot<I>(slots.results, first_equal)) return;
    get<I>(slots.results) = get<I>(folds).finish(total);
  }
  template <int Width>
  TENON_HOST_DEVICE void store(index result, const slots_of_neighbours<Slots, Width>& slots) const {
    if constexpr (Width > 1 && requires { target.at(positions[result]); }) {
      if (stores_packets) {
        const auto position = positions[result];
        const auto cursor = bind_slots(program.at(position), slots);
        return write_packet<Width>(target.at(position), cursor, fetch<Width>(cursor));
      }
    }
    TENON_UNROLLED
    for (int k = 0; k < Width; ++k) {
      const auto position = positions[result + k];
      target.store(position, program.at(position).value(0, slots.each[k]));
    }
  }
};

/// Whether neighbouring results are folded side by side: their values are neighbours in memory, and there are several.
template <int... I, class... Folds, int ResultRank>
bool folds_columns(const detail::tuple_base<std::integer_sequence<int, I...>, Folds...>& folds,
                   const array<index, ResultRank>& result_extents) {
  if constexpr (ResultRank == 0) {
    return false;
  } else {
    constexpr index least = 8;
    return result_extents[ResultRank - 1] >= least && (get<I>(folds).across && ...);
  }
}

namespace detail {

/// Moves the axis of neighbouring results behind those of values, where these results come in packets of `Width`; false
/// where they do not.
template <int Width, class Fold>
bool turn_across(Fold& fold, index neighbours) {
  constexpr int rank = Fold::rank;
  if constexpr (rank == 0 || Width == 1 || !visits_all_reads<decltype(fold.program)>) {
    return false;
  } else {
    stride_list<rank> strides;
    fold.program.visit(strides);
    if (fold.kept == 0 || neighbours % Width != 0 || strides.count > strides.capacity) return false;
    for (int axis = --fold.kept; axis + 1 < rank; ++axis) {
      strides.exchange(axis, axis + 1);
      std::swap(fold.extents[axis], fold.extents[axis + 1]);
      std::swap(fold.in_result[axis], fold.in_result[axis + 1]);
    }
    packet_check<rank, Width> check{fold.extents};
    fold.program.visit(check);
    fold.extents[rank - 1] = 1;  // values of a result
    return check.fits;
  }
}

}  // namespace detail

/// Has lowered reductions read packets of `Width` neighbouring results, of which `neighbours` lie side by side. Where
/// one of them cannot, nothing is changed, and the answer is false.
template <int Width, int... I, class... Folds>
bool turn_all_across(detail::tuple_base<std::integer_sequence<int, I...>, Folds...>& folds, index neighbours) {
  auto turned = make_tuple_of(get<I>(folds)...);
  if (!(detail::turn_across<Width>(get<I>(turned), neighbours) && ...)) return false;
  ((get<I>(folds) = get<I>(turned)), ...);
  return true;
}

}  // namespace tenon
