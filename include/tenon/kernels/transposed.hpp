// tenon/kernels/transposed.hpp: pointwise statements with operands that lie across the destination, such as transposes.
// A block reads tiles of them along their rows, leaves them in shared memory and takes them from there the other way.
// Floor 4: may include base, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/kernels/packets.hpp>

namespace tenon {

/// The same of a kernel with tiles in shared memory, where sources of the same elements share one.
template <int Count>
struct tile_readings : source_readings {
  std::uint32_t first = 0;   // of those that share a tile, the one that brings it
  array<int, Count> tile{};  // the byte of shared memory at which that of each source across begins
  int bytes = 0;             // of all tiles

  TENON_HOST_DEVICE bool is_first(int source) const { return (first >> source & 1u) != 0; }
  /// The tile of a source among the tiles of its block.
  template <class T, class Memory>
  TENON_HOST_DEVICE auto tile_of(int source, const Memory& memory) const {
    return memory.part(tile[source], bytes - tile[source]).template as<T>();
  }
};

namespace detail {

/// A tile of elements of T in shared memory, `Side` rows of `Side` columns. Rows are one word longer, so that neither
/// rows nor columns meet in one bank.
template <class T, int Side>
struct shared_tile {
  static constexpr int pitch = Side + (sizeof(T) < 4 ? 4 / static_cast<int>(sizeof(T)) : 1);
  static constexpr int bytes = shared_bytes_of<T>(Side * pitch);
};

/// Reads what lies across, once for each tile: `rows` elements, or a packet, down the tile.
template <class Readings>
struct across_reader {
  const Readings& readings;
  index rows;
  int source = 0;

  template <int Size, class T>
  TENON_HOST_DEVICE TENON_INLINE packet<T, Size> read(const T* data, index) {
    const int own = source++;
    packet<T, Size> result{};
    if (!readings.is_first(own)) return result;
    if (rows >= Size && readings.is_in_packets(own)) return load_packet<Size>(data);
    for (int k = 0; k < Size; ++k) {
      if (k < rows) set_element(result, k, data[k]);
    }
    return result;
  }
};

/// Writes packets that were read down the tile to shared memory. `row` is the row of a packet's first element.
template <int Side, class Readings, class Memory>
struct across_writer {
  const Readings& readings;
  const Memory& memory;
  int row, column;
  int source = 0;

  template <class T, int Size>
  TENON_HOST_DEVICE TENON_INLINE void operator()(const packet<T, Size>& read) {
    const int own = source++;
    if (!readings.is_first(own)) return;
    const auto tile = readings.template tile_of<T>(own, memory);
    for (int k = 0; k < Size; ++k) tile.store((row + k) * shared_tile<T, Side>::pitch + column, element_of(read, k));
  }
};

/// Reads `columns` elements, or a packet, along a row: of the tile what lies across, all else where it is.
template <int Side, class Readings, class Memory>
struct along_reader {
  const Readings& readings;
  const Memory& memory;
  int row, column;
  index columns;
  int source = 0;

  template <int Size, class T>
  TENON_HOST_DEVICE TENON_INLINE packet<T, Size> read(const T* data, index stride) {
    const int own = source++;
    packet<T, Size> result{};
    if (readings.is_across(own)) {
      const auto tile = readings.template tile_of<T>(own, memory);
      for (int k = 0; k < Size; ++k) set_element(result, k, tile.load(row * shared_tile<T, Side>::pitch + column + k));
      return result;
    }
    if (columns >= Size && readings.is_in_packets(own)) return load_packet<Size>(data);
    for (int k = 0; k < Size; ++k) {
      if (k < columns) set_element(result, k, data[k * stride]);
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
  using readings_type = tile_readings<source_count<Program>>;
  static constexpr int side = Size >= 4 ? 64 : 32;
  static constexpr int packets_per_line = side / Size;
  static constexpr int packets = side * packets_per_line / kernel_block;  // of a thread
  static constexpr int wanted =
      packets_of_thread<Program, Size> / (Size > 4 ? 2 : 1);  // wide packets take more registers
  static constexpr int at_once = wanted < 1 ? 1 : wanted < packets ? wanted : packets;
  numbered_positions<Rank> tiles;
  array<index, Rank> extents;
  readings_type readings;
  bool writes_packets;
  strided_target<T, Rank> target;
  Program program;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    auto origin = tiles.narrow(static_cast<std::uint64_t>(device.block().x));
    origin[Rank - 2] *= side, origin[Rank - 1] *= side;
    const auto memory = device.template shared<unsigned char>(readings.bytes);
    for (int i = 0; i < packets; i += at_once) stage<at_once>(memory, origin, device.thread() + i * kernel_block);
    device.sync();
    for (int i = 0; i < packets; i += at_once) write<at_once>(memory, origin, device.thread() + i * kernel_block);
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
  template <int Count, class Memory>
  TENON_HOST_DEVICE TENON_INLINE void stage(const Memory& memory, const array<index, Rank>& origin, int number) const {
    if constexpr (Count > 0) {
      const place at(number);
      auto position = origin;
      position[Rank - 2] += at.along, position[Rank - 1] += at.line;
      const index rows = is_inside(position) ? extents[Rank - 2] - position[Rank - 2] : 0;
      if (rows == 0) position = origin;
      detail::across_reader<readings_type> reader{readings, rows};
      const auto fetched = fetch<Size>(program.at(position), reader);
      stage<Count - 1>(memory, origin, number + kernel_block);
      detail::across_writer<side, readings_type, Memory> leave{readings, memory, at.along, at.line};
      for_each_packet(fetched, leave);
    }
  }
  /// Packets of the destination; all are read before the first is written.
  template <int Count, class Memory>
  TENON_HOST_DEVICE TENON_INLINE void write(const Memory& memory, const array<index, Rank>& origin, int number) const {
    if constexpr (Count > 0) {
      const place at(number);
      auto position = origin;
      position[Rank - 2] += at.line, position[Rank - 1] += at.along;
      const index columns = is_inside(position) ? extents[Rank - 1] - position[Rank - 1] : 0;
      if (columns == 0) position = origin;
      detail::along_reader<side, readings_type, Memory> reader{readings, memory, at.line, at.along, columns};
      const auto cursor = program.at(position);
      const auto fetched = fetch<Size>(cursor, reader);
      write<Count - 1>(memory, origin, number + kernel_block);
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

/// Chooses how each of `Count` sources is read, once the axis across is the last but one. Those that read the same
/// elements share a tile.
template <int Rank, int Size, int Side, int Count>
struct reading_choice {
  struct elements {
    const void* data;
    int size;
    array<index, Rank> stride;
    bool operator==(const elements&) const = default;
  };
  const array<index, Rank>& extents;
  tile_readings<Count> readings{};
  array<elements, Count> sources{};
  int source = 0;

  template <class T>
  void operator()(const array<index, Rank>& stride, const T* data) {
    sources[source] = {data, static_cast<int>(sizeof(T)), stride};
    const bool is_askew = stride[Rank - 1] != 0 && stride[Rank - 1] != 1 && stride[Rank - 2] == 1;
    const bool lies_across = is_askew && finds_tile(shared_tile<T, Side>::bytes);
    if (lies_across) readings.across |= 1u << source;
    if (is_aligned(stride, data, lies_across ? Rank - 2 : Rank - 1)) readings.in_packets |= 1u << source;
    ++source;
  }
  void operator()(const array<index, Rank>&, index) {}
  /// The tile of an earlier source that reads the same, or one of its own where there is room.
  bool finds_tile(int bytes) {
    const int earlier = first_equal(sources, source);
    if (earlier != source) {
      readings.tile[source] = readings.tile[earlier];
      return readings.is_across(earlier);
    }
    if (readings.bytes + bytes > tile_bytes_limit) return false;
    readings.first |= 1u << source;
    readings.tile[source] = readings.bytes;
    readings.bytes += bytes;
    return true;
  }
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

    detail::reading_choice<Rank, size, side, source_count<Program>> choice{extents};
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
                               .shared_bytes = choice.readings.bytes},
                  kernel);
    return true;
  }
}

}  // namespace tenon
