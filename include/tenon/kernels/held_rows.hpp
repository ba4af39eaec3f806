// tenon/kernels/held_rows.hpp: the kernel of row-resident statements whose rows fit in the registers of a team.
// What the programs of a statement read again is read once; each thread takes the packets that it read itself.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/kernels/row_writer.hpp>
#include <tenon/plan/sharing.hpp>

namespace tenon {

namespace detail {

/// The type of the first elements that are fetched of memory; void where none are.
template <class Fetched>
struct first_element {
  using type = void;
};
template <class T, int Size>
struct first_element<packet<T, Size>> {
  using type = T;
};
template <class First, class... Rest>
struct first_element<tuple<First, Rest...>> {
  using type = std::conditional_t<std::is_void_v<typename first_element<First>::type>,
                                  typename first_element<tuple<Rest...>>::type, typename first_element<First>::type>;
};

}  // namespace detail

/// The type of the rows that these reductions read, of which some may be held: the first one's.
template <class... Folds>
constexpr auto held_element(const tuple<Folds...>*) {
  return std::type_identity<typename detail::first_element<tuple<typename Folds::fetched_type...>>::type>{};
}

/// How many different rows are held: one, or two where a reduction reads several.
template <class... Folds>
constexpr int held_row_count(const tuple<Folds...>*) {
  return ((source_count<typename Folds::program_type> > 1) || ...) ? 2 : 1;
}

/// Rows of `T` in memory that programs read; `Programs` are these, the reductions' and the one that follows.
template <class T, int Rank, int Rows, int Programs>
struct held_sources {
  array<const T*, Rows> data{};                                // null: no row
  array<array<index, Rank>, Rows> step{};                      // along the axes of a statement
  array<array<std::uint32_t, Rows>, Programs> same_as_held{};  // which sources of a program these are, as a mask

  TENON_HOST_DEVICE const T* row(int number, const array<index, Rank>& start) const {
    index offset = 0;
    for (int axis = 0; axis < Rank; ++axis) offset += start[axis] * step[number][axis];
    return data[number] + offset;
  }
};

/// Reads the packet that a thread holds, whatever the address.
template <class T, int Size>
struct sole_row_reader {
  const packet<T, Size>& held;

  template <int Wanted, class U>
  TENON_HOST_DEVICE TENON_INLINE packet<U, Wanted> read(const U*, index) const {
    static_assert(std::is_same_v<T, U> && Size == Wanted);
    return held;
  }
};

/// Reads a packet from what a thread holds, or from memory.
template <class T, int Size, int Rows>
struct held_row_reader {
  const array<packet<T, Size>, Rows>& held;
  const array<std::uint32_t, Rows>& same_as_held;
  int source = 0;

  template <int Wanted, class U>
  TENON_HOST_DEVICE TENON_INLINE packet<U, Wanted> read(const U* data, index stride) {
    const std::uint32_t own = 1u << source++;
    if constexpr (std::is_same_v<T, U> && Size == Wanted) {
      if ((same_as_held[0] & own) != 0) return held[0];
      if constexpr (Rows > 1) {
        if ((same_as_held[1] & own) != 0) return held[1];
      }
    }
    return direct_reader{}.template read<Wanted>(data, stride);
  }
};

/// One team per row; rows are the axes from `RowAxis` on. All programs read and write whole rows in packets.
template <int Rank, int Size, class Target, class Program, class Folds, class Slots>
struct held_rows_kernel {
  static constexpr const char* name = "rows";
  static constexpr int rows_held = held_row_count(static_cast<const Folds*>(nullptr));
  static constexpr int packets = Size == 4 ? 8 : 4;  // that a thread holds of a row
  using element = typename decltype(held_element(static_cast<const Folds*>(nullptr)))::type;
  static constexpr int min_blocks = Size > 2 && rows_held == 1 ? 3 : 2;  // 85 registers a thread, or 128
  using sources = held_sources<element, Rank, rows_held, Folds::count + 1>;
  using fetched_type = decltype(fetch<Size>(std::declval<const Program&>().at(array<index, Rank>{})));
  using held_packets = array<packet<element, Size>, rows_held>;
  /// Whether a program reads nothing but the row that is held, so that it needs no address and asks nothing.
  template <class Other, class Fetched>
  static constexpr bool reads_one_row = rows_held == 1 && source_count<Other> == 1 &&
                                        std::is_same_v<element, typename detail::first_element<Fetched>::type>;
  numbered_positions<Rank> rows;  // their starts
  row_writer<Rank, Size, Target, Program> writer;
  Folds folds;
  sources held;
  row_team team;
  int units;  // of a row

  template <int I>
  using fold_at = std::remove_cvref_t<decltype(get<I>(std::declval<const Folds&>()))>;
  /// The first of the reductions that has the type of number `I`.
  template <int I, int Earlier = 0>
  TENON_HOST_DEVICE static constexpr int first_of_type() {
    if constexpr (std::is_same_v<fold_at<Earlier>, fold_at<I>>) return Earlier;
    else return first_of_type<I, Earlier + 1>();
  }

  /// Whether all is as the types of the programs suggest: what may read the row alone does, and reductions of one type
  /// are equal, so that compilers know it.
  bool is_as_typed(const array<int, Folds::count>& first_equal) const {
    bool result = !reads_one_row<Program, fetched_type> || (held.same_as_held[Folds::count][0] & 1u) != 0;
    for_each_index<Folds::count>([&](auto i) {
      using fold_type = fold_at<i.value>;
      const bool reads_it = (held.same_as_held[i.value][0] & 1u) != 0;
      result = result && first_equal[i.value] == first_equal[first_of_type<i.value>()] &&
               (reads_it || !reads_one_row<typename fold_type::program_type, typename fold_type::fetched_type>);
    });
    return result;
  }
  /// The threads of a row of `units` packets; none where they cannot hold it.
  static constexpr bool fits(index units) { return units <= index{packets} << row_team::bits_of_block; }
  static constexpr row_team team_of(index units) { return row_team::for_units(units, packets, packets); }

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const index teams = team.of_block(), own = team.number(device.thread());
    const bool is_whole = units == packets << team.bits;  // all threads hold as much as they can
    for (index first = device.block().x * teams; first < rows.count(); first += device.grid_size().x * teams) {
      const bool is_row = first + own < rows.count();  // a team without one meets its warp in all shuffles
      if (is_whole && first + teams <= rows.count()) {
        run<true>(device, first + own, units);
      } else {
        run<false>(device, is_row ? first + own : first, is_row ? units : 0);
      }
    }
  }

 private:
  /// A row; where it is `Whole`, nothing is asked of packets, and compilers keep what two programs compute of them.
  template <bool Whole, class Device>
  TENON_HOST_DEVICE TENON_INLINE void run(Device& device, index row, int end) const {
    const auto start = rows[row];
    held_packets own[packets]{};
    TENON_UNROLLED
    for (int number = 0; number < rows_held; ++number) {
      if (held.data[number] == nullptr) continue;
      const element* const from = held.row(number, start) + team.lane(device.thread()) * Size;
      TENON_UNROLLED
      for (int j = 0; j < packets; ++j) {
        if (Whole || is_before<false>(device, j, end))
          own[j][number] = load_packet<Size>(from + ((j * Size) << team.bits));
      }
    }
    Slots slots{};
    fold_all<Whole>(device, row, own, end, slots, std::make_integer_sequence<int, Folds::count>{});
    if (team.is_in_warp()) device.sync_warp();  // in place, no lane writes what another has yet to read
    TENON_UNROLLED
    for (int j = 0; j < packets; ++j) {
      if (!is_before<Whole>(device, j, end)) continue;
      writer.write_packet_of(start, unit(device, j), slots, reader_of<Folds::count, Program, fetched_type>(own[j]));
    }
  }
  template <class Device>
  TENON_HOST_DEVICE int unit(Device& device, int j) const {
    return team.lane(device.thread()) + (j << team.bits);
  }
  template <bool Whole, class Device>
  TENON_HOST_DEVICE bool is_before(Device& device, int j, int end) const {
    return Whole || unit(device, j) < end;
  }
  template <int I, class Other, class Fetched>
  TENON_HOST_DEVICE auto reader_of(const held_packets& own) const {
    if constexpr (reads_one_row<Other, Fetched>) return sole_row_reader<element, Size>{own[0]};
    else return held_row_reader<element, Size, rows_held>{own, held.same_as_held[I]};
  }
  template <bool Whole, class Device, int... I>
  TENON_HOST_DEVICE TENON_INLINE void fold_all(Device& device, index row, const held_packets (&own)[packets], int end,
                                               Slots& slots, std::integer_sequence<int, I...>) const {
    (fold_one<Whole, I>(device, row, own, end, slots), ...);
  }
  template <bool Whole, int I, class Device>
  TENON_HOST_DEVICE TENON_INLINE void fold_one(Device& device, index row, const held_packets (&own)[packets], int end,
                                               Slots& slots) const {
    using fold_type = fold_at<I>;
    constexpr int earlier = first_of_type<I>();
    if constexpr (earlier < I) {
      get<I>(slots.results) = get<earlier>(slots.results);
    } else {
      const auto& fold = get<I>(folds);
      typename fold_type::lanes partial;
      const auto start = fold.starts[row];
      TENON_UNROLLED
      for (int j = 0; j < packets; ++j) {
        if (!is_before<Whole>(device, j, end)) continue;
        fold.add_packet(partial, start, unit(device, j), slots,
                        reader_of<I, typename fold_type::program_type, typename fold_type::fetched_type>(own[j]));
      }
      get<I>(slots.results) = fold.finish(partial.combined(device, team));
    }
  }
};

/// Finds which sources of a statement's programs are the same elements, row for row. `RowRank` is the number of the
/// axes that number rows.
template <int RowRank>
class row_source_list {
 public:
  static constexpr int capacity = 32;

  /// Adds the sources of a program. Its axis j is the row axis `row_axis[j]`, or moves within a row where that is none;
  /// its last axis moves along the row. `extents` are the extents of the row axes. Returns the number of the first
  /// source.
  template <int Rank, class Program>
  int add(Program& program, const array<int, Rank>& row_axis, const array<index, RowRank>& extents) {
    const int first_number = count_;
    entry_visitor<Rank> visitor{*this, row_axis, extents};
    program.visit(visitor);
    return first_number;
  }
  /// The sources of `T` that occur again, as many as are held, in the programs whose sources begin at these numbers.
  /// Those that differ from row to row come first: others stay in cache.
  template <class T, int Rows, int Programs>
  held_sources<T, RowRank, Rows, Programs> held(const array<int, Programs>& first_source) const {
    held_sources<T, RowRank, Rows, Programs> result;
    if (count_ > capacity) return result;
    int rows = 0;
    for (int place = 0; place < 2 * count_ && rows < Rows; ++place) {
      const int source = place % count_;
      const std::uint32_t same = equal_to(source);
      if ((entries_[source].step == array<index, RowRank>{}) != (place >= count_)) continue;
      if (!entries_[source].moves || entries_[source].size != static_cast<int>(sizeof(T))) continue;
      if (first_equal(entries_, source) != source || same == 1u << source) continue;
      result.data[rows] = static_cast<const T*>(entries_[source].data);
      result.step[rows] = entries_[source].step;
      for (int program = 0; program < Programs; ++program) {
        if (first_source[program] < count_) result.same_as_held[program][rows] = same >> first_source[program];
      }
      ++rows;
    }
    return result;
  }

 private:
  struct entry {
    const void* data;
    int size;
    bool moves;  // along the row
    array<index, RowRank> step;
    bool operator==(const entry&) const = default;
  };
  template <int Rank>
  struct entry_visitor {
    row_source_list& list;
    const array<int, Rank>& row_axis;
    const array<index, RowRank>& extents;

    template <class T>
    void operator()(const array<index, Rank>& stride, const T* data) {
      entry found{data, static_cast<int>(sizeof(T)), stride[Rank - 1] != 0, {}};
      for (int axis = 0; axis < Rank; ++axis) {
        const int row = row_axis[axis];
        if (row >= 0 && extents[row] != 1) found.step[row] = stride[axis];
      }
      if (list.count_ < capacity) list.entries_[list.count_] = found;
      ++list.count_;
    }
    void operator()(const array<index, Rank>&, index) {}
  };

  std::uint32_t equal_to(int source) const {
    std::uint32_t same = 0;
    for (int other = 0; other < count_; ++other) {
      if (entries_[other] == entries_[source]) same |= 1u << other;
    }
    return same;
  }

  entry entries_[capacity];
  int count_ = 0;
};

namespace detail {

/// Whether each reduction goes over rows of `count` elements side by side, in packets.
template <int... I, class... Folds>
bool folds_whole_rows(const tuple_base<std::integer_sequence<int, I...>, Folds...>& folds, index count) {
  return ((get<I>(folds).in_packets && get<I>(folds).in_run && get<I>(folds).count == count) && ...);
}

/// Which axis of the rows each axis of a statement is: itself before `RowAxis`, none from there on.
template <int Rank, int RowAxis>
constexpr array<int, Rank> axes_of_rows() {
  array<int, Rank> result{};
  for (int axis = 0; axis < Rank; ++axis) result[axis] = axis < RowAxis ? axis : -1;
  return result;
}

}  // namespace detail

/// Runs that kernel where a statement's rows lie whole in packets, fit in a team's registers and are read more than
/// once; returns false, and has done nothing, elsewhere. `extents` are those of the statement, no axes merged.
template <class Space, int RowAxis, class Slots, int Rank, int Size, class Target, class Program, class Lowered,
          class Folds>
bool run_held_rows_kernel(const numbered_positions<Rank>& rows, const row_writer<Rank, Size, Target, Program>& writer,
                          Lowered& lowered, const Folds& folds, const array<int, Folds::count>& first_equal,
                          const array<index, Rank>& extents) {
  using kernel_type = held_rows_kernel<Rank, Size, Target, Program, Folds, Slots>;
  const index units = writer.units.count();
  if (!writer.in_packets || !writer.in_run || !kernel_type::fits(units)) return false;
  if (!detail::folds_whole_rows(folds, units * Size)) return false;
  row_source_list<Rank> sources;
  array<int, Folds::count + 1> first{};
  for_each_index<Folds::count>([&](auto i) {
    auto& fold = get<i.value>(lowered);
    first[i.value] = sources.add(fold.program, fold.in_result, extents);
  });
  auto program = writer.program;
  first[Folds::count] = sources.add(program, detail::axes_of_rows<Rank, RowAxis>(), extents);
  const auto held = sources.template held<typename kernel_type::element, kernel_type::rows_held>(first);
  if (held.data[0] == nullptr) return false;
  const kernel_type kernel{rows, writer, folds, held, kernel_type::team_of(units), static_cast<int>(units)};
  if (!kernel.is_as_typed(first_equal)) return false;
  launch<Space>(launch_shape{.grid = {blocks_for(rows.count() << kernel.team.bits)},
                             .block = kernel_block,
                             .shared_bytes = block_reduce_bytes},
                kernel);
  return true;
}

}  // namespace tenon
