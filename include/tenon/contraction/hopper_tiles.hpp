// tenon/contraction/hopper_tiles.hpp: how Hopper's product is cut into tiles, and which block computes which.
// A block computes one tile after another; its copies run ahead into the next while results of the last are stored.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/epilogue.hpp>
#include <tenon/device/hopper.hpp>
#include <tenon/device/primitives.hpp>
#include <tenon/device/workspace.hpp>

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

/// Stores the results in a warp's strip. The first belongs to row `row` of its tile and to `column`; `lines` says which
/// row of the result each row of the tile is. Results at or past the ends of rows and columns are left out.
template <class Device, class Strip, class Lines, class Epilogue>
struct strip_writer {
  static constexpr int packet_size = Epilogue::packet, packets_of_row = result_strip::columns / packet_size;
  static constexpr int packets = result_strip::size / packet_size / warp_size;  // of a lane
  static constexpr int at_once = packets < 4 ? packets : 4;                     // that are read before any is written

  using accumulator = typename Strip::value_type;

  Device& device;
  const Strip& strip;
  const Epilogue& epilogue;
  const Lines& lines;
  int row;
  index column;
  array<index, 2> ends;

  /// Puts two results of a row beside each other, the first at an even column.
  TENON_HOST_DEVICE TENON_INLINE void put(int own_row, int own_column, accumulator left, accumulator right) const {
    strip.template store_vector<2>(result_strip::place(own_row, own_column / 4 * 4) + own_column % 4,
                                   array<accumulator, 2>{{left, right}});
  }
  /// Stores what was put, as the results from `first_column` on.
  TENON_HOST_DEVICE TENON_INLINE void store(index first_column) const {
    if constexpr (Lines::may_be_columns) {
      if (!epilogue.is_exchanged) return store_columns<packet_size>(first_column);
    }
    const bool has_all_columns = column + first_column + result_strip::columns <= ends[1];
    if (epilogue.usable_packet == packet_size && has_all_columns) {
      for (int i = device.lane(); i < packets * warp_size; i += at_once * warp_size) {
        store_packets<at_once>(i, first_column);
      }
    } else {
      for (int i = device.lane(); i < result_strip::size; i += warp_size) store_one(i, first_column);
    }
  }

 private:
  using held_sums = accumulator_packet<accumulator, packet_size>;

  template <int Count>
  TENON_HOST_DEVICE TENON_INLINE void store_packets(int number, index first_column) const {
    if constexpr (Count > 0) {
      const int own_row = number / packets_of_row, own_column = number % packets_of_row * packet_size;
      const index at_row = lines[row + own_row];
      const bool is_inside = at_row < ends[0];
      const auto position = epilogue.position(is_inside ? at_row : 0, column + first_column + own_column);
      const auto cursor = bind_slots(epilogue.map.program.at(position), sums_at(own_row, own_column));
      const auto fetched = fetch<packet_size>(cursor);
      store_packets<Count - 1>(number + warp_size, first_column);
      if (is_inside) write_packet<packet_size>(epilogue.target.at(position), cursor, fetched);
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
  /// The same as columns of the result, `Size` neighbours of which lie side by side. Every lane has the same lines of
  /// all columns that it stores.
  template <int Size>
  TENON_HOST_DEVICE TENON_INLINE void store_columns(index first_column) const {
    if constexpr (Size > 1) {
      if (epilogue.usable_packet < Size || !lines.has_runs_of(Size)) return store_columns<Size / 2>(first_column);
    }
    constexpr int runs = result_strip::rows / Size;
    const int own_row = device.lane() % runs * Size;
    const index line = lines[row + own_row];
    if (line >= ends[0]) return;
    auto position = epilogue.position(0, line);
    for (int own_column = device.lane() / runs; own_column < result_strip::columns; own_column += warp_size / runs) {
      position[Epilogue::row_axis] = column + first_column + own_column;
      if (position[Epilogue::row_axis] >= ends[1]) return;
      array<accumulator, Size> sums;
      for (int k = 0; k < Size; ++k) {
        sums[k] = strip.load(result_strip::place(own_row + k, own_column / 4 * 4) + own_column % 4);
      }
      if constexpr (Size == 1) epilogue.store_at(position, sums[0]);
      else epilogue.store_packet_at(position, sums);
    }
  }
  TENON_HOST_DEVICE void store_one(int i, index first_column) const {
    const int own_row = i / result_strip::columns, own_column = i % result_strip::columns;
    const index at_row = lines[row + own_row], at_column = column + first_column + own_column;
    if (at_row >= ends[0] || at_column >= ends[1]) return;
    epilogue.store(at_row, at_column, strip.load(result_strip::place(own_row, own_column / 4 * 4) + own_column % 4));
  }
};

/// A block computes Rows x Columns results, each of its consumer warpgroups 64 rows of them, in steps of 128 bytes of
/// depth; shared memory holds the operands of `Stages` steps.
template <int Rows, int Columns, int Stages>
struct hopper_tile {
  static_assert(Rows % product_rows == 0, "tenon: warpgroups compute 64 rows");
  static constexpr int rows = Rows, columns = Columns, stages = Stages;
  static constexpr int consumers = Rows / product_rows;
  static constexpr int threads = (1 + consumers) * warpgroup_size;
  static constexpr int consumer_warps = consumers * warpgroup_size / warp_size;
  static constexpr bool may_share_depth = Columns <= 128;  // adding other blocks' sums takes registers
};

using wide_hopper_tile = hopper_tile<128, 256, 4>;
using square_hopper_tile = hopper_tile<128, 128, 6>;

/// Depth of a step.
template <class Element>
inline constexpr int hopper_depth = swizzle_row_bytes / stored_bytes<Element>;

/// How `Lines` rows (of the left operand) or columns (of the right one) and the depth of a step lie in a stage: as
/// swizzled rows of 128 bytes, a line each, or where lines are `Adjacent` in memory, lines at one depth.
template <class Element, int Lines, bool Adjacent>
struct hopper_layout {
  static constexpr int bytes = stored_bytes<Element>;
  static constexpr int width = hopper_depth<Element>;  // elements of a row
  static constexpr int copy_rows = Adjacent ? width : Lines, copies = Lines / (Adjacent ? width : Lines);
  static constexpr int copy_size = copy_rows * width;
  static constexpr int leading_bytes = Adjacent ? copy_size * bytes : 16;  // ignored by hardware if depth is adjacent
  static constexpr int step_bytes = product_depth<Element> * (Adjacent ? swizzle_row_bytes : bytes);

  template <class Unit, class Tiles>
  TENON_HOST_DEVICE static operand_descriptor describe(Unit& unit, const Tiles& tiles, int first) {
    return unit.describe(tiles, first, leading_bytes, 8 * swizzle_row_bytes);
  }
};

/// A block's ring of stages in shared memory: tiles of both operands, and barriers that say when a stage is full or
/// empty.
template <class Tiles, class Barriers>
struct hopper_stages {
  Tiles left, right;
  Barriers full, empty;
};

/// The lines of a tile of a matrix: they follow each other.
struct adjacent_lines {
  static constexpr bool may_be_columns = false;
  index first;

  TENON_HOST_DEVICE index operator[](int i) const { return first + i; }
};

/// A matrix as tiles are copied of it.
template <class Map>
struct hopper_operand {
  static constexpr bool may_have_lines_adjacent = true, may_have_depth_adjacent = true;
  Map map;
  bool lines_are_adjacent;
  bool has_batches;  // else it is the same in all

  /// Starts to copy `Lines` and the depth of a step into a stage; `place` is the first line, step and batch.
  template <int Lines, class Unit, class Tiles, class Barriers>
  TENON_HOST_DEVICE void copy(Unit& unit, const array<int, 3>& place, const Tiles& tiles, const Barriers& full,
                              int stage) const {
    using adjacent = hopper_layout<typename Tiles::value_type, Lines, true>;
    const auto to = tiles.part(stage * Lines * adjacent::width, Lines * adjacent::width);
    const int line = place[0], depth = place[1] * adjacent::width, batch = has_batches ? place[2] : 0;
    if (lines_are_adjacent) {
      for (int i = 0; i < adjacent::copies; ++i) {
        unit.copy_tile(to.part(i * adjacent::copy_size, adjacent::copy_size), map,
                       {{line + i * adjacent::width, depth, batch}}, full, stage);
      }
    } else {
      unit.copy_tile(to, map, {{depth, line, batch}}, full, stage);
    }
  }
  template <int Lines>
  TENON_HOST_DEVICE adjacent_lines lines_of(int first) const {
    return {first};
  }
};

/// A tile of the result.
struct hopper_place {
  int batch, row, column;  // in elements
};

/// The tiles of all batches in the order in which blocks take them: in groups of rows, along which tiles share their
/// columns' operand in the cache.
struct hopper_order {
  static constexpr int group = 8;
  int tile_rows, tile_columns, row_tiles, column_tiles, count;

  TENON_HOST_DEVICE constexpr hopper_place place(int number) const {
    const int tiles = row_tiles * column_tiles, batch = number / tiles, within = number % tiles;
    const int first_row = within / (group * column_tiles) * group;
    const int rows = row_tiles - first_row < group ? row_tiles - first_row : group;
    const int of_group = within - first_row * column_tiles;
    return {batch, (first_row + of_group % rows) * tile_rows, of_group / rows * tile_columns};
  }
};

/// The order of tiles of a product.
template <class Tile>
constexpr hopper_order order_of_tiles(index rows, index columns, index batches) {
  const index down = (rows + Tile::rows - 1) / Tile::rows, across = (columns + Tile::columns - 1) / Tile::columns;
  return {Tile::rows, Tile::columns, static_cast<int>(down), static_cast<int>(across),
          static_cast<int>(down * across * batches)};
}

/// How blocks share the depth of tiles: work `number` is part `number % parts` of a tile, `steps` of it or the rest.
template <class Sum>
struct depth_shares {
  int parts = 1, steps = 0;
  Sum* sums = nullptr;           // what blocks leave: those of a tile's parts, one after another
  unsigned* counters = nullptr;  // of the parts that are done, for each warp of each tile

  TENON_HOST_DEVICE constexpr int count(const hopper_order& order) const { return order.count * parts; }
  TENON_HOST_DEVICE constexpr int tile(int number) const { return parts == 1 ? number : number / parts; }
  TENON_HOST_DEVICE constexpr int part(int number) const { return parts == 1 ? 0 : number % parts; }
  TENON_HOST_DEVICE constexpr int first(int number) const { return part(number) * steps; }
  TENON_HOST_DEVICE constexpr int end(int number, int steps_of_all) const {
    const int own_end = first(number) + steps;
    return own_end < steps_of_all ? own_end : steps_of_all;
  }
};

/// How many blocks share the depth of each of `tiles`, so that processors have work: each takes eight steps at least.
/// The last of them adds what the others left, which takes it as long as two steps for each.
template <class Tile>
constexpr int parts_of_tiles(int tiles, int steps, int processors) {
  constexpr int least_steps = 8, steps_of_adding = 2;
  if (!Tile::may_share_depth || tiles == 0 || tiles * Tile::consumer_warps > workspace_counters) return 1;
  const int fitting = processors / tiles, most = steps / least_steps;
  int parts = fitting < most ? fitting : most;
  while (parts * parts * steps_of_adding > steps) --parts;
  return parts < 1 ? 1 : parts;
}

/// A stage of the ring, and the parity of the phase in which it is used.
template <int Stages>
struct ring_position {
  int stage = 0, parity = 0;

  TENON_HOST_DEVICE void advance() {
    if (++stage == Stages) stage = 0, parity ^= 1;
  }
};

}  // namespace tenon
