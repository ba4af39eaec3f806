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
template <int Rank, class... Ts, class Program>
inline constexpr int row_packet<joint_target<Rank, Ts...>, Program> =
    visits_all_reads<Program> ? packet_size_of(greatest_size({static_cast<int>(sizeof(Ts))..., element_bytes<Program>}))
                              : 1;

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
  bool in_run;  // units follow each other along the last axis

  /// Units number `first`, `first + step` and so on below `end` of the row that starts at `start` and whose reductions
  /// are `slots`.
  template <class Slots>
  TENON_HOST_DEVICE void write_all(const array<index, Rank>& start, index first, index step, index end,
                                   const Slots& slots) const {
    if constexpr (Size > 1) {
      if (in_packets && in_run) {
        for (index i = first; i < end; i += step) write_packet_of(start, i, slots, direct_reader{});
        return;
      }
    }
    for (index i = first; i < end; i += step) write(start, i, slots);
  }
  /// Unit `i` of that row.
  template <class Slots>
  TENON_HOST_DEVICE void write(const array<index, Rank>& start, index i, const Slots& slots) const {
    auto position = start;
    if (in_run) {
      position[Rank - 1] = in_packets ? i * Size : i;  // rows start at 0 there
    } else {
      const auto unit = units[i];
      for (int axis = 0; axis < Rank; ++axis) {
        position[axis] += axis == Rank - 1 && in_packets ? unit[axis] * Size : unit[axis];
      }
    }
    if constexpr (Size > 1) {
      if (in_packets) return write_packet_at(position, slots, direct_reader{});
    }
    target.store(position, bind_slots(program.at(position), slots).value(0, slots));
  }
  /// Packet `i` of that row, whose packets follow each other; `reader` reads it.
  template <class Slots, class Reader>
  TENON_HOST_DEVICE void write_packet_of(const array<index, Rank>& start, index i, const Slots& slots,
                                         Reader reader) const {
    auto position = start;
    position[Rank - 1] = i * Size;
    write_packet_at(position, slots, reader);
  }

 private:
  template <class Slots, class Reader>
  TENON_HOST_DEVICE void write_packet_at(const array<index, Rank>& position, const Slots& slots, Reader reader) const {
    const auto cursor = bind_slots(program.at(position), slots);
    write_packet<Size>(target.at(position), cursor, fetch<Size>(cursor, reader));
  }
};

}  // namespace tenon
