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
  static constexpr int rows = 16, columns = 64, size = rows * columns;

  /// Where the four results from `column` on, a multiple of 4, of a row lie.
  TENON_HOST_DEVICE static constexpr int place(int row, int column) {
    const int number = column / 8, half = column / 4 % 2;
    return row * columns + ((number ^ (row % 4)) * 2 + (half ^ (number / 4))) * 4;
  }
};

/// Stores what lies in a warp's strip: its first result is that of `row` and `column`, those at or past the ends of
/// rows and columns are none.
template <class Device, class Strip, class Epilogue>
struct strip_writer {
  static constexpr int packet_size = Epilogue::packet, packets_of_row = result_strip::columns / packet_size;
  static constexpr int packets = result_strip::size / packet_size / warp_size;  // of a lane
  static constexpr int at_once = packets < 4 ? packets : 4;                     // that are read before any is written

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
  TENON_HOST_DEVICE TENON_INLINE void store(index first_column) const {
    const bool is_whole =
        row + result_strip::rows <= ends[0] && column + first_column + result_strip::columns <= ends[1];
    if (epilogue.usable_packet == packet_size && is_whole) {
      for (int i = device.lane(); i < packets * warp_size; i += at_once * warp_size) {
        store_packets<at_once>(i, first_column);
      }
    } else {
      for (int i = device.lane(); i < result_strip::size; i += warp_size) store_one(i, first_column);
    }
  }

 private:
  using held_sums = accumulator_packet<float, packet_size>;

  template <int Count>
  TENON_HOST_DEVICE TENON_INLINE void store_packets(int number, index first_column) const {
    if constexpr (Count > 0) {
      const int own_row = number / packets_of_row, own_column = number % packets_of_row * packet_size;
      const auto position = epilogue.map.position(row + own_row, column + first_column + own_column);
      const auto cursor = bind_slots(epilogue.map.program.at(position), sums_at(own_row, own_column));
      const auto fetched = fetch<packet_size>(cursor);
      store_packets<Count - 1>(number + warp_size, first_column);
      write_packet<packet_size>(epilogue.target.at(position), cursor, fetched);
    }
  }
  TENON_HOST_DEVICE TENON_INLINE held_sums sums_at(int own_row, int own_column) const {
    constexpr int width = packet_size < 4 ? packet_size : 4;
    held_sums result;
    for (int k = 0; k < packet_size; k += width) {
      const int at = own_column + k;
      const auto part = strip.template load_vector<width>(result_strip::place(own_row, at / 4 * 4) + at % 4);
      for (int i = 0; i < width; ++i) result.accumulators[k + i] = part[i];
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
