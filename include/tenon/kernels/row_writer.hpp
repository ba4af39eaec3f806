// tenon/kernels/row_writer.hpp: writes a row once its reductions are known.
// Element by element, or in packets where all that the row's programs read and write lies in them.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/kernels/fold.hpp>

namespace tenon {

/// Elements of the packets in which rows are written; 1 where they are written one by one.
template <class Target, class Program>
inline constexpr int row_packet = 1;
template <class T, int Rank, class Program>
inline constexpr int row_packet<strided_target<T, Rank>, Program> =
    visits_all_reads<Program> ? packet_size<T, Program> : 1;

/// Elements of the packets in which all programs of a row statement read and write.
template <class Target, class Program, class... Folds>
constexpr int common_row_packet(const tuple<Folds...>*) {
  int least = row_packet<Target, Program>;
  ((least = fold_packet<Folds> < least ? fold_packet<Folds> : least), ...);
  return least;
}

/// Writes the elements of rows, one by one or packet by packet, by their number within the row.
template <int Rank, int Size, class Target, class Program>
struct row_writer {
  numbered_positions<Rank> units;  // from the start of a row
  Target target;
  Program program;
  bool in_packets;

  /// Unit `i` of the row that starts at `start` and whose reductions are `slots`; `reader` reads its packet.
  template <class Slots, class Reader>
  TENON_HOST_DEVICE void write(const array<index, Rank>& start, index i, const Slots& slots, Reader reader) const {
    auto position = units[i];
    if (in_packets) position[Rank - 1] *= Size;
    for (int axis = 0; axis < Rank; ++axis) position[axis] += start[axis];
    const auto cursor = bind_slots(program.at(position), slots);
    if constexpr (Size > 1) {
      if (in_packets) return write_packet<Size>(target.at(position), cursor, fetch<Size>(cursor, reader));
    }
    target.store(position, cursor.value(0, slots));
  }
};

}  // namespace tenon
