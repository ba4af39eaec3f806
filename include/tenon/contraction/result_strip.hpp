// tenon/contraction/result_strip.hpp: results of a warp on their way from accumulators to memory.
// A strip in shared memory turns what lanes hold by the matrix unit's map into runs along rows.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/epilogue.hpp>
#include <tenon/device/primitives.hpp>

namespace tenon {

/// 16 x 64 results of a warp in shared memory. Runs of 8 results stay together; where they lie depends on the row, so
/// that neither writing pairs of a matrix unit's map nor reading runs meets a bank twice.
struct result_strip {
  static constexpr int rows = 16, columns = 64, size = rows * columns, run = 8, runs_of_row = columns / run;

  /// Where the four results from `column` on, a multiple of 4, of a row lie.
  TENON_HOST_DEVICE static constexpr int place(int row, int column) {
    const int number = column / run, half = column / 4 % 2;
    return row * columns + ((number ^ (row % 4)) * 2 + (half ^ (number / 4))) * 4;
  }
};

/// Reads the operands of an epilogue where they are; its slot is a run of accumulators.
template <int Run, class Accumulator>
struct accumulator_reader {
  const packet<Accumulator, Run>& accumulators;

  template <int Size, class T>
  TENON_HOST_DEVICE TENON_INLINE packet<T, Size> read(const T* data, index stride) const {
    return direct_reader{}.template read<Size>(data, stride);
  }
  template <int, int Size>
  TENON_HOST_DEVICE TENON_INLINE packet<Accumulator, Size> slot() const {
    return accumulators;
  }
};

namespace detail {

/// Whether runs of `Run` elements along the last axis lie whole and aligned in all that is visited, or are one element.
template <int Rank, int Run>
struct run_check {
  const array<index, Rank>& extents;
  bool fits = true;

  template <class T>
  void operator()(const array<index, Rank>& stride, const T* data) {
    if (stride[Rank - 1] == 0) return;
    fits = fits && stride[Rank - 1] == 1 && reinterpret_cast<std::uintptr_t>(data) % (sizeof(T) * Run) == 0;
    for (int axis = 0; axis < Rank - 1; ++axis) fits = fits && (extents[axis] == 1 || stride[axis] % Run == 0);
  }
  void operator()(const array<index, Rank>&, index) {}
};

}  // namespace detail

/// Whether an epilogue may be evaluated for aligned runs of `Run` columns at a time.
template <int Run, class Value, class Target, class Program, int Rank, class Axes>
bool takes_runs(const contraction_epilogue<Value, Target, Program, Rank, Axes>&, index) {
  return false;
}
template <int Run, class Value, class T, class Program, int Rank, class Axes>
bool takes_runs(contraction_epilogue<Value, strided_target<T, Rank>, Program, Rank, Axes> epilogue, index columns) {
  constexpr auto column_axes = Axes::columns;
  if constexpr (column_axes[column_axes.size() - 1] != Rank - 1 || !visits_all_reads<Program>) {
    return false;
  } else {
    detail::run_check<Rank, Run> check{epilogue.map.extents};
    epilogue.map.program.visit(check);
    epilogue.target.visit(check);
    return check.fits && epilogue.target.step() == 1 && epilogue.map.run_from(0) >= columns;
  }
}

/// Stores what lies in a warp's strip: its first result is that of `row` and `column`, those at or past the ends of
/// `extents` are none. All reads of a lane's runs are under way before the first store.
template <class Device, class Strip, class Epilogue>
struct strip_writer {
  static constexpr int run = result_strip::run;
  static constexpr int rows_at_once = warp_size / result_strip::runs_of_row;

  Device& device;
  const Strip& strip;
  const Epilogue& epilogue;
  index row, column;
  array<index, 2> ends;

  /// Puts two results of a row beside each other, the first at an even column.
  TENON_HOST_DEVICE TENON_INLINE void put(int own_row, int own_column, float left, float right) const {
    strip.template store_vector<2>(result_strip::place(own_row, own_column / 4 * 4) + own_column % 4,
                                   array<float, 2>{{left, right}});
  }
  /// Stores what was put, as the results from `first_column` on.
  TENON_HOST_DEVICE TENON_INLINE void store(index first_column, bool by_runs) const {
    if (by_runs && row + result_strip::rows <= ends[0] && column + first_column + result_strip::columns <= ends[1]) {
      store_runs<result_strip::rows / rows_at_once>(0, first_column);
    } else {
      for (int i = device.lane(); i < result_strip::size; i += warp_size) store_one(i, first_column);
    }
  }

 private:
  template <int Count>
  TENON_HOST_DEVICE TENON_INLINE void store_runs(int first, index first_column) const {
    if constexpr (Count > 0) {
      const int own_row = first + device.lane() / result_strip::runs_of_row;
      const int own_column = device.lane() % result_strip::runs_of_row * run;
      const auto position = epilogue.map.position(row + own_row, column + first_column + own_column);
      const auto cursor = epilogue.map.program.at(position);
      const auto sums = accumulators(own_row, own_column);
      accumulator_reader<run, float> reader{sums};
      const auto fetched = fetch<run>(cursor, reader);
      store_runs<Count - 1>(first + rows_at_once, first_column);
      write_packet<run>(epilogue.target.at(position), cursor, fetched);
    }
  }
  TENON_HOST_DEVICE TENON_INLINE packet<float, run> accumulators(int own_row, int own_column) const {
    packet<float, run> result;
    for (int k = 0; k < run; k += 4) {
      const auto part = strip.template load_vector<4>(result_strip::place(own_row, own_column + k));
      for (int i = 0; i < 4; ++i) result.elements[k + i] = part[i];
    }
    return result;
  }
  TENON_HOST_DEVICE void store_one(int i, index first_column) const {
    const int own_row = i / result_strip::columns, own_column = i % result_strip::columns;
    const index at_row = row + own_row, at_column = column + first_column + own_column;
    if (at_row >= ends[0] || at_column >= ends[1]) return;
    epilogue.store(at_row, at_column, strip.load(result_strip::place(own_row, own_column / 4 * 4) + own_column % 4));
  }
};

}  // namespace tenon
