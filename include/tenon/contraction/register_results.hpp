// tenon/contraction/register_results.hpp: results of a product that lanes hold, finished where they are.
// Each lane knows its rows and columns, so epilogues run on registers and no result passes through shared memory.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/tile.hpp>

namespace tenon {

/// Units whose lanes hold runs of neighbours along rows: `run`, `runs_down`, `runs_across`, `row_of_run` and
/// `column_of_run` say which.
template <class Unit>
inline constexpr bool holds_runs = requires { Unit::run; };

/// The results that a thread holds of a tile, as `Unit` lays them out.
template <class Unit>
struct register_results {
  using policy = typename Unit::policy;
  using accumulator = typename Unit::accumulator;
  static constexpr int run = Unit::run;

  /// Writes what this block adds to its tile. What threads that follow each other hold lies side by side.
  template <class Device, class Sums>
  TENON_HOST_DEVICE static void leave(Device& device, accumulator* to, const Sums& sums) {
    for (int down = 0; down < Unit::runs_down; ++down) {
      const auto row = sums.results(down);
      TENON_UNROLLED
      for (int across = 0; across < Unit::runs_across; ++across) {
        store_packet(to + offset(device, down, across), as_packet(row[across]));
      }
    }
  }
  /// The sums of what `parts` blocks have left, in their order, `tile` elements apart.
  template <class Device, class Sums>
  TENON_HOST_DEVICE static void gather(Device& device, const accumulator* from, int parts, index tile, Sums& sums) {
    sums.clear(device);
    for (int part = 0; part < parts; ++part, from += tile) {
      for (int down = 0; down < Unit::runs_down; ++down) {
        typename Unit::lane_row row;
        TENON_UNROLLED
        for (int across = 0; across < Unit::runs_across; ++across) {
          row[across] = as_array(load_packet<run>(from + offset(device, down, across)));
        }
        sums.add(down, row);
      }
    }
  }

  /// Runs the epilogue on the results of the tile that begins at `begin`; `inside` of its rows and columns are.
  template <class Device, class Sums, class Epilogue>
  TENON_HOST_DEVICE static void finish(Device& device, const Sums& sums, const Epilogue& last,
                                       const array<index, 2>& begin, const array<int, 2>& inside) {
    constexpr int size = run < Epilogue::packet ? run : Epilogue::packet;
    if (size > 1 && last.usable_packet >= size) store<size>(device, sums, last, begin, inside);
    else store<1>(device, sums, last, begin, inside);
  }

 private:
  TENON_HOST_DEVICE static packet<accumulator, run> as_packet(const array<accumulator, run>& values) {
    packet<accumulator, run> result;
    for (int i = 0; i < run; ++i) result.elements[i] = values[i];
    return result;
  }
  TENON_HOST_DEVICE static array<accumulator, run> as_array(const packet<accumulator, run>& values) {
    array<accumulator, run> result;
    for (int i = 0; i < run; ++i) result[i] = values.elements[i];
    return result;
  }
  template <class Device>
  TENON_HOST_DEVICE static int offset(Device& device, int down, int across) {
    return ((down * Unit::runs_across + across) * policy::threads + device.thread()) * run;
  }
  /// Stores `Size` neighbours at a time. Those of a packet are all inside the result or all outside.
  template <int Size, class Device, class Sums, class Epilogue>
  TENON_HOST_DEVICE static void store(Device& device, const Sums& sums, const Epilogue& last,
                                      const array<index, 2>& begin, const array<int, 2>& inside) {
    const int thread = device.reread_thread(), lane = thread % warp_size, warp = thread / warp_size;
    const int first_row = policy::row_of_warp(warp), first_column = policy::column_of_warp(warp);
    for (int down = 0; down < Unit::runs_down; ++down) {
      const int row = first_row + Unit::row_of_run(lane, down);
      if (row >= inside[0]) continue;
      const auto values = sums.results(down);
      TENON_UNROLLED
      for (int across = 0; across < Unit::runs_across; ++across) {
        const int column = first_column + Unit::column_of_run(lane, across);
        TENON_UNROLLED
        for (int i = 0; i < run; i += Size) {
          if (column + i < inside[1]) store_part<Size>(last, begin[0] + row, begin[1] + column + i, values[across], i);
        }
      }
    }
  }
  template <int Size, class Epilogue>
  TENON_HOST_DEVICE static void store_part(const Epilogue& last, index row, index column,
                                           const array<accumulator, run>& values, int first) {
    if constexpr (Size == 1) {
      last.store(row, column, values[first]);
    } else {
      array<accumulator, Size> part;
      for (int i = 0; i < Size; ++i) part[i] = values[first + i];
      last.store_packet(row, column, part);
    }
  }
};

}  // namespace tenon
