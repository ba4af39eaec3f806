// tenon/kernels/transposed.hpp: pointwise statements with operands that lie across the destination, such as transposes.
// A block reads its tile of them along their rows, leaves it in shared memory and takes it from there the other way.
// Floor 4: may include base, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/kernels/packets.hpp>

namespace tenon {

namespace detail {

/// A tile of elements of T in shared memory, `Side` rows of `Side` columns. Rows are one word longer, so that neither
/// rows nor columns meet in one bank.
template <class T, int Side>
struct shared_tile {
  static constexpr int pitch = Side + (sizeof(T) < 4 ? 4 / static_cast<int>(sizeof(T)) : 1);
  static constexpr int bytes = shared_bytes_of<T>(Side * pitch);
};

/// Reads what lies across: `rows` elements, or a packet, down the tile.
struct across_reader {
  source_readings readings;
  index rows;
  int source = 0;

  template <int Size, class T>
  TENON_HOST_DEVICE TENON_INLINE packet<T, Size> read(const T* data, index) {
    const int own = source++;
    packet<T, Size> result{};
    if (!readings.is_across(own)) return result;
    if (rows >= Size && readings.is_in_packets(own)) return load_packet<Size>(data);
    for (int k = 0; k < Size; ++k) {
      if (k < rows) result.elements[k] = data[k];
    }
    return result;
  }
};

/// Leaves packets that were read down the tile in shared memory, `row` being that of their first element.
template <int Side, class Device>
struct across_writer {
  Device& device;
  source_readings readings;
  int row, column;
  int source = 0;

  template <class T, int Size>
  TENON_HOST_DEVICE TENON_INLINE void operator()(const packet<T, Size>& read) {
    using tile = shared_tile<T, Side>;
    if (!readings.is_across(source++)) return;
    const auto shared = device.template shared<T>(Side * tile::pitch);
    for (int k = 0; k < Size; ++k) shared.store((row + k) * tile::pitch + column, read.elements[k]);
  }
};

/// Reads `columns` elements, or a packet, along a row: of the tile what lies across, all else where it is.
template <int Side, class Device>
struct along_reader {
  Device& device;
  source_readings readings;
  int row, column;
  index columns;
  int source = 0;

  template <int Size, class T>
  TENON_HOST_DEVICE TENON_INLINE packet<T, Size> read(const T* data, index stride) {
    const int own = source++;
    packet<T, Size> result{};
    if (readings.is_across(own)) {
      using tile = shared_tile<T, Side>;
      const auto shared = device.template shared<T>(Side * tile::pitch);
      for (int k = 0; k < Size; ++k) result.elements[k] = shared.load(row * tile::pitch + column + k);
      return result;
    }
    if (columns >= Size && readings.is_in_packets(own)) return load_packet<Size>(data);
    for (int k = 0; k < Size; ++k) {
      if (k < columns) result.elements[k] = data[k * stride];
    }
    return result;
  }
};

}  // namespace detail

/// Evaluates a program tile by tile: the last axis runs along rows of the tile and of the destination, the one before
/// it along what lies across.
template <int Rank, int Size, class T, class Program>
struct transposed_kernel {
  static constexpr const char* name = "transposed";
  static constexpr int min_blocks = resident_blocks;
  static constexpr int side = Size >= 4 ? 64 : 32;
  static constexpr int packets_per_line = side / Size;
  static constexpr int packets = side * packets_per_line / kernel_block;  // of a thread
  static constexpr int wanted =
      packets_of_thread<Program, Size> / (Size > 4 ? 2 : 1);  // wide packets take more registers
  static constexpr int at_once = wanted < 1 ? 1 : wanted < packets ? wanted : packets;
  numbered_positions<Rank> tiles;
  array<index, Rank> extents;
  source_readings readings;
  bool writes_packets;
  strided_target<T, Rank> target;
  Program program;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    auto origin = tiles.narrow(static_cast<std::uint64_t>(device.block().x));
    origin[Rank - 2] *= side, origin[Rank - 1] *= side;
    for (int i = 0; i < packets; i += at_once) stage<at_once>(device, origin, device.thread() + i * kernel_block);
    device.sync();
    for (int i = 0; i < packets; i += at_once) write<at_once>(device, origin, device.thread() + i * kernel_block);
  }

 private:
  /// The place of a packet in the tile: it begins at element `along` of line `line`. A warp takes eight packets of four
  /// lines: whole sectors of memory, and all banks of shared memory.
  struct place {
    int along, line;
    TENON_HOST_DEVICE explicit place(int number)
        : along(Size * (number % 8 + 8 * (number / 32 % (packets_per_line / 8)))),
          line(number / 8 % 4 + 4 * (number / (4 * packets_per_line))) {}
  };

  /// Packets down the tile into shared memory; all are read before the first is left there. Those outside read nothing.
  template <int Count, class Device>
  TENON_HOST_DEVICE TENON_INLINE void stage(Device& device, const array<index, Rank>& origin, int number) const {
    if constexpr (Count > 0) {
      const place at(number);
      auto position = origin;
      position[Rank - 2] += at.along, position[Rank - 1] += at.line;
      const index rows = is_inside(position) ? extents[Rank - 2] - position[Rank - 2] : 0;
      if (rows == 0) position = origin;
      detail::across_reader reader{readings, rows};
      const auto fetched = fetch<Size>(program.at(position), reader);
      stage<Count - 1>(device, origin, number + kernel_block);
      const int used = device.shared_used();
      detail::across_writer<side, Device> leave{device, readings, at.along, at.line};
      for_each_packet(fetched, leave);
      device.release_shared(used);
    }
  }
  /// Packets of the destination; all are read before the first is written.
  template <int Count, class Device>
  TENON_HOST_DEVICE TENON_INLINE void write(Device& device, const array<index, Rank>& origin, int number) const {
    if constexpr (Count > 0) {
      const place at(number);
      auto position = origin;
      position[Rank - 2] += at.line, position[Rank - 1] += at.along;
      const index columns = is_inside(position) ? extents[Rank - 1] - position[Rank - 1] : 0;
      if (columns == 0) position = origin;
      const int used = device.shared_used();
      detail::along_reader<side, Device> reader{device, readings, at.line, at.along, columns};
      const auto cursor = program.at(position);
      const auto fetched = fetch<Size>(cursor, reader);
      device.release_shared(used);
      write<Count - 1>(device, origin, number + kernel_block);
      store(position, columns, cursor, fetched);
    }
  }
  template <class Cursor, class Fetched>
  TENON_HOST_DEVICE TENON_INLINE void store(const array<index, Rank>& position, index columns, const Cursor& cursor,
                                            const Fetched& fetched) const {
    T* to = target.at(position);
    if (columns >= Size && writes_packets) return write_packet<Size>(to, cursor, fetched);
    for (int k = 0; k < Size; ++k) {
      if (k < columns) to[k * target.step()] = static_cast<T>(value_from(cursor, fetched, k));
    }
  }
  TENON_HOST_DEVICE bool is_inside(const array<index, Rank>& position) const {
    return position[Rank - 2] < extents[Rank - 2] && position[Rank - 1] < extents[Rank - 1];
  }
};

namespace detail {

inline constexpr index least_across = 16;           // elements that are worth a tile, both ways
inline constexpr int tile_bytes_limit = 64 * 1024;  // what every device gives a block

/// Counts for each axis the sources that lie along it and not along the last.
template <int Rank>
struct across_count {
  const array<index, Rank>& extents;
  array<int, Rank> found{};

  template <class T>
  void operator()(const array<index, Rank>& stride, const T*) {
    if (stride[Rank - 1] == 0 || stride[Rank - 1] == 1) return;
    for (int axis = 0; axis < Rank - 1; ++axis) found[axis] += extents[axis] >= least_across && stride[axis] == 1;
  }
  void operator()(const array<index, Rank>&, index) {}
};

/// Chooses how each source is read, once the axis across is the last but one.
template <int Rank, int Size, int Side>
struct reading_choice {
  const array<index, Rank>& extents;
  source_readings readings{};
  int source = 0, shared_bytes = 0;

  template <class T>
  void operator()(const array<index, Rank>& stride, const T* data) {
    const bool lies_across = stride[Rank - 1] != 0 && stride[Rank - 1] != 1 && stride[Rank - 2] == 1 &&
                             shared_bytes + shared_tile<T, Side>::bytes <= tile_bytes_limit;
    const int along = lies_across ? Rank - 2 : Rank - 1;
    if (lies_across) readings.across |= 1u << source, shared_bytes += shared_tile<T, Side>::bytes;
    if (is_aligned(stride, data, along)) readings.in_packets |= 1u << source;
    ++source;
  }
  void operator()(const array<index, Rank>&, index) {}
  template <class T>
  bool is_aligned(const array<index, Rank>& stride, const T* data, int along) const {
    bool aligned = stride[along] == 1 && reinterpret_cast<std::uintptr_t>(data) % (sizeof(T) * Size) == 0;
    for (int axis = 0; axis < Rank; ++axis) {
      aligned = aligned && (axis == along || extents[axis] == 1 || stride[axis] % Size == 0);
    }
    return aligned;
  }
};

/// Moves an axis of everything that is iterated together to a later place; those between move up.
template <int Rank>
void move_axis(array<index, Rank>& extents, const stride_list<Rank>& list, int axis, int place) {
  for (; axis < place; ++axis) {
    std::swap(extents[axis], extents[axis + 1]);
    list.exchange(axis, axis + 1);
  }
}

}  // namespace detail

/// Makes the axis along which the destination lies side by side the last one, so that what is written is never askew;
/// several destinations stay as they are.
template <int Rank, class Target, class Program>
void turn_to_target(const array<index, Rank>&, const Target&, const Program&) {}
template <int Rank, class T, class Program>
void turn_to_target(array<index, Rank>& extents, strided_target<T, Rank>& target, Program& program) {
  if constexpr (Rank >= 2 && visits_all_reads<Program>) {
    if (target.step() == 1) return;
    stride_list<Rank> list;
    target.visit(list), program.visit(list);
    if (list.count > stride_list<Rank>::capacity) return;
    for (int axis = Rank - 2; axis >= 0; --axis) {
      if (target.stride[axis] == 1 && extents[axis] > 1) return detail::move_axis(extents, list, axis, Rank - 1);
    }
  }
}

/// Runs a statement over merged axes by tiles; returns false, and has done nothing, where no operand lies across.
template <class Space, int Rank, class Target, class Program>
bool run_transposed_kernel(const array<index, Rank>&, const Target&, const Program&) {
  return false;
}
template <class Space, int Rank, class T, class Program>
bool run_transposed_kernel(array<index, Rank> extents, strided_target<T, Rank> target, Program program) {
  if constexpr (Rank < 2 || !visits_all_reads<Program> || source_count<Program> == 0 ||
                source_count<Program> > source_readings::capacity) {
    return false;
  } else {
    using kernel_type = transposed_kernel<Rank, packet_size<T, Program>, T, Program>;
    constexpr int size = packet_size<T, Program>, side = kernel_type::side;
    detail::across_count<Rank> count{extents};
    program.visit(count);
    int axis = 0;
    for (int other = 1; other < Rank - 1; ++other) axis = count.found[other] > count.found[axis] ? other : axis;
    if (count.found[axis] == 0 || extents[Rank - 1] < detail::least_across) return false;
    stride_list<Rank> list;
    target.visit(list), program.visit(list);
    if (list.count > stride_list<Rank>::capacity) return false;
    detail::move_axis(extents, list, axis, Rank - 2);

    detail::reading_choice<Rank, size, side> choice{extents};
    program.visit(choice);
    auto tiles = extents;
    for (int each = Rank - 2; each < Rank; ++each) tiles[each] = (extents[each] + side - 1) / side;
    const kernel_type kernel{numbered_positions<Rank>(tiles),
                             extents,
                             choice.readings,
                             choice.is_aligned(target.stride, target.data, Rank - 1),
                             target,
                             program};
    if (!kernel.tiles.is_narrow()) return false;
    launch<Space>(launch_shape{.grid = {static_cast<int>(kernel.tiles.count())},
                               .block = kernel_block,
                               .shared_bytes = choice.shared_bytes},
                  kernel);
    return true;
  }
}

}  // namespace tenon
