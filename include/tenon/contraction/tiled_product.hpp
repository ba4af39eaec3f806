// tenon/contraction/tiled_product.hpp: the kernel of all tiled products.
// Operands pass through a ring of stages in shared memory; a unit multiplies them, an epilogue finishes the results.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/operand.hpp>
#include <tenon/contraction/tile.hpp>
#include <tenon/device/launch.hpp>
#include <tenon/device/workspace.hpp>

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
  /// Adds the partial sums that `parts` blocks have left, in order of blocks, `tile` elements apart.
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

/// Where the blocks that share a tile leave their sums, a tile of each, for the last of them to add.
template <class Accumulator>
struct partial_tiles {
  Accumulator* sums;
  unsigned* counters;  // one a tile
};

/// C[rows, columns] = epilogue(sum over depth of left * right), a tile of results for each block, or for `parts` blocks
/// that share the depth. A unit multiplies the stages: a type that says how they lie and how results come out,
///   policy, element, accumulator      tiles, what a stage holds, what sums are
///   left_placement, right_placement   `elements` of a stage, and `offset(layout, run, chunk)` of 16 bytes in it
///   warp_tile<Device>                 the sums of a warp: `clear`, `multiply_add` of a stage, `store_strip` of rows
///   strips, strip_rows, strip_pitch, row_of_strip(strip, row)   which rows these are, and how far apart stored
///   is_available<Device>(), fallback  whether this device has the unit, and the unit that it takes instead
template <class Unit, int Rank, class Left, class Right, class Epilogue>
struct tiled_product_kernel {
  using policy = typename Unit::policy;
  using element = typename Unit::element;
  using accumulator = typename Unit::accumulator;
  static constexpr const char* name = Unit::name;
  static constexpr int tile_rows = policy::rows, tile_columns = policy::columns, tile_size = tile_rows * tile_columns;
  static constexpr int depth_tile = policy::depth, stages = policy::stages, max_threads = policy::threads,
                       min_blocks = policy::blocks;
  static constexpr int left_elements = Unit::left_placement::elements, right_elements = Unit::right_placement::elements;
  static constexpr int stage_elements = left_elements + right_elements;
  static constexpr int strip_elements = [] {
    if constexpr (holds_runs<Unit>) return 0;
    else return Unit::strip_rows * Unit::strip_pitch;
  }();
  static constexpr int stage_bytes = greatest_size(
      {shared_bytes_of<element>(stages * stage_elements), shared_bytes_of<accumulator>(policy::warps* strip_elements)});
  static constexpr int shared_bytes = stage_bytes + shared_bytes_of<int>(1);  // one for is_last_block

  product_extents<Rank> extents;
  Left left;
  Right right;
  Epilogue epilogue;
  int parts;
  partial_tiles<accumulator> partial;

  /// Tiles of all batches.
  index tiles() const { return static_cast<index>(tiles_down()) * tiles_across() * extents.batch_count(); }

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    if constexpr (Unit::template is_available<Device>()) {
      run(device);
    } else {
      using other = tiled_product_kernel<typename Unit::fallback, Rank, Left, Right, Epilogue>;
      static_assert(other::shared_bytes <= shared_bytes, "tenon: a fallback has the shared memory of its unit");
      other{extents, left, right, epilogue, parts, {partial.sums, partial.counters}}(device);
    }
  }

 private:
  template <class Device>
  TENON_HOST_DEVICE void run(Device& device) const {
    const tile_place place = place_of(device.block().x);
    const auto batch = extents.batch_position(place.batch);
    const auto shared = device.template shared<unsigned char>(stage_bytes);
    typename Unit::template warp_tile<Device> sums;
    sums.clear(device);
    accumulate(device, shared.template as<element>(), {left.at_batch(batch), right.at_batch(batch)}, place, sums);
    const result_part part = part_of(place);
    if constexpr (holds_runs<Unit>) {
      finish_registers(device, epilogue.at_batch(batch), part, sums);
    } else {
      const auto strip = shared.template as<accumulator>().part(device.warp() * strip_elements, strip_elements);
      device.sync();
      if (parts > 1) {
        leave_partial(device, strip, sums);
        if (!is_last_block(device, partial.counters + device.block().x, parts)) return;
      }
      finish(device, strip, epilogue.at_batch(batch), part, sums);
    }
  }

  static constexpr int group_rows =
      8;  // rows of tiles that follow each other column by column, so that caches serve them
  static constexpr int packet_size = Epilogue::packet;
  static constexpr bool may_exchange =
      std::is_same_v<typename Unit::left_placement, typename Unit::right_placement> && [] {
        if constexpr (requires { Epilogue::can_exchange; }) return Epilogue::can_exchange;
        else return false;
      }();

  /// A batch, and the tile of it.
  struct tile_place {
    int batch, down, across;

    TENON_HOST_DEVICE index row() const { return static_cast<index>(down) * tile_rows; }
    TENON_HOST_DEVICE index column() const { return static_cast<index>(across) * tile_columns; }
  };
  struct operands {
    Left left;
    Right right;
  };
  /// The results of a tile as its unit sees them: where they begin, and where the matrix ends.
  struct result_part {
    index row, column, row_end, column_end;
  };
  TENON_HOST_DEVICE result_part part_of(const tile_place& place) const {
    if (is_exchanged()) return {place.column(), place.row(), extents.columns, extents.rows};
    return {place.row(), place.column(), extents.rows, extents.columns};
  }
  /// Whether the unit multiplies the operands in exchanged roles: its rows are columns of the result.
  TENON_HOST_DEVICE bool is_exchanged() const {
    if constexpr (may_exchange) return epilogue.is_exchanged;
    else return false;
  }
  TENON_HOST_DEVICE int tiles_down() const { return static_cast<int>((extents.rows + tile_rows - 1) / tile_rows); }
  TENON_HOST_DEVICE int tiles_across() const {
    return static_cast<int>((extents.columns + tile_columns - 1) / tile_columns);
  }
  TENON_HOST_DEVICE tile_place place_of(int number) const {
    const int down = tiles_down(), across = tiles_across(), in_batch = number % (down * across);
    const int group = group_rows * across, first = in_batch / group * group_rows, in_group = in_batch % group;
    const int rows = down - first < group_rows ? down - first : group_rows;
    return {number / (down * across), first + in_group % rows, in_group / rows};
  }

  /// Adds the products of this block's share of the depth.
  template <class Device, class Stages, class Sums>
  TENON_HOST_DEVICE void accumulate(Device& device, const Stages& shared, const operands& source,
                                    const tile_place& place, Sums& sums) const {
    const int steps = static_cast<int>((extents.depth + policy::depth - 1) / policy::depth);
    const int share = (steps + parts - 1) / parts, first = device.block().y * share;
    const int end = first + share < steps ? first + share : steps;
    constexpr int ahead = stages - 1;  // steps that are fetched before they are multiplied
    int next = 0;                      // the stage that is fetched
    for (int step = first - ahead; step < end; ++step) {
      if (step >= first) {
        device.template wait_copies<stages - 2>();
        device.sync();
      }
      if (step + ahead < end) fetch(device, shared, source, place, step + ahead, next);
      device.commit_copies();
      next = next + 1 == stages ? 0 : next + 1;
      if (step < first) continue;
      const int at = next * stage_elements;  // the oldest stage is fetched next
      if constexpr (may_exchange) {
        const bool turned = is_exchanged();
        const auto left_layout = turned ? source.right.layout : source.left.layout,
                   right_layout = turned ? source.left.layout : source.right.layout;
        sums.multiply_add(device, shared.part(at + (turned ? left_elements : 0), left_elements), left_layout,
                          shared.part(at + (turned ? 0 : left_elements), left_elements), right_layout);
      } else {
        sums.multiply_add(device, shared.part(at, left_elements), source.left.layout,
                          shared.part(at + left_elements, right_elements), source.right.layout);
      }
    }
    device.template wait_copies<0>();
  }
  template <class Device, class Stages>
  TENON_HOST_DEVICE void fetch(Device& device, const Stages& shared, const operands& source, const tile_place& place,
                               int step, int stage) const {
    const index depth = static_cast<index>(step) * policy::depth;
    source.left.template fetch<typename Unit::left_placement, policy::threads>(
        device, shared.part(stage * stage_elements, left_elements), {place.row(), extents.rows, depth, extents.depth});
    source.right.template fetch<typename Unit::right_placement, policy::threads>(
        device, shared.part(stage * stage_elements + left_elements, right_elements),
        {place.column(), extents.columns, depth, extents.depth});
  }

  /// Adds the sums of the other parts to those that threads hold, and runs the epilogue on them.
  template <class Device, class Finish, class Sums>
  TENON_HOST_DEVICE void finish_registers(Device& device, const Finish& last, const result_part& part,
                                          Sums& sums) const {
    using results = register_results<Unit>;
    if (parts > 1) {
      results::leave(device, sums_of_part(device, device.block().y), sums);
      if (!is_last_block(device, partial.counters + device.block().x, parts)) return;
      results::gather(device, sums_of_part(device, 0), parts, tile_size, sums);
    }
    const index rows = part.row_end - part.row, columns = part.column_end - part.column;
    results::finish(device, sums, last, {{part.row, part.column}},
                    {{rows < policy::rows ? static_cast<int>(rows) : policy::rows,
                      columns < policy::columns ? static_cast<int>(columns) : policy::columns}});
  }

  /// Where the sums of part `part` of this block's tile lie.
  template <class Device>
  TENON_HOST_DEVICE accumulator* sums_of_part(Device& device, int part) const {
    return partial.sums + (static_cast<index>(device.block().x) * parts + part) * tile_size;
  }
  template <class Device, class Strip, class Sums>
  TENON_HOST_DEVICE void leave_partial(Device& device, const Strip& strip, Sums& sums) const {
    constexpr int size = chunk_size<accumulator>, chunks = policy::warp_columns / size;
    accumulator* const to = sums_of_part(device, device.block().y);
    for (int number = 0; number < Unit::strips; ++number) {
      sums.store_strip(device, strip, number);
      device.sync_warp();
      for (int i = device.lane(); i < Unit::strip_rows * chunks; i += warp_size) {
        const int row = i / chunks, column = i % chunks * size;
        const auto values = strip.template load_vector<size>(row * Unit::strip_pitch + column);
        packet<accumulator, size> lanes;
        for (int k = 0; k < size; ++k) lanes.elements[k] = values[k];
        store_packet(to + offset_in_tile(device, number, row, column), lanes);
      }
      device.sync_warp();
    }
  }
  template <class Device>
  TENON_HOST_DEVICE static int offset_in_tile(Device& device, int strip, int row, int column) {
    const int tile_row = policy::row_of_warp(device.warp()) + Unit::row_of_strip(strip, row);
    return tile_row * policy::columns + policy::column_of_warp(device.warp()) + column;
  }

  /// Runs the epilogue on the sums of this block, or on those of all parts.
  template <class Device, class Strip, class Finish, class Sums>
  TENON_HOST_DEVICE void finish(Device& device, const Strip& strip, const Finish& last, const result_part& part,
                                Sums& sums) const {
    for (int number = 0; number < Unit::strips; ++number) {
      if (parts > 1) gather_strip(device, strip, number);
      else sums.store_strip(device, strip, number);
      device.sync_warp();
      if (last.usable_packet == packet_size) store_strip<packet_size>(device, strip, last, part, number);
      else store_strip<1>(device, strip, last, part, number);
      device.sync_warp();
    }
  }
  /// The sums of all parts, added in their order.
  template <class Device, class Strip>
  TENON_HOST_DEVICE void gather_strip(Device& device, const Strip& strip, int number) const {
    constexpr int columns = policy::warp_columns;
    const accumulator* const from = sums_of_part(device, 0);
    for (int i = device.lane(); i < Unit::strip_rows * columns; i += warp_size) {
      const int row = i / columns, column = i % columns, at = offset_in_tile(device, number, row, column);
      accumulator total = from[at];
      for (int part = 1; part < parts; ++part) total += from[static_cast<index>(part) * tile_size + at];
      strip.store(row * Unit::strip_pitch + column, total);
    }
  }
  /// Stores a strip, `Size` neighbours at a time.
  template <int Size, class Device, class Strip, class Finish>
  TENON_HOST_DEVICE void store_strip(Device& device, const Strip& strip, const Finish& last, const result_part& part,
                                     int number) const {
    constexpr int runs = policy::warp_columns / Size;
    const index first_row = part.row + policy::row_of_warp(device.warp());
    const index first_column = part.column + policy::column_of_warp(device.warp());
    for (int i = device.lane(); i < Unit::strip_rows * runs; i += warp_size) {
      const index row = first_row + Unit::row_of_strip(number, i / runs), column = first_column + i % runs * Size;
      if (row >= part.row_end || column >= part.column_end) continue;
      const int at = i / runs * Unit::strip_pitch + i % runs * Size;
      if constexpr (Size == 1) last.store(row, column, strip.load(at));
      else last.store_packet(row, column, load_run<Size>(strip, at));
    }
  }
  template <int Size, class Strip>
  TENON_HOST_DEVICE static array<accumulator, Size> load_run(const Strip& strip, int at) {
    constexpr int size = Size < chunk_size<accumulator> ? Size : chunk_size<accumulator>;
    array<accumulator, Size> result;
    for (int first = 0; first < Size; first += size) {
      const auto values = strip.template load_vector<size>(at + first);
      for (int k = 0; k < size; ++k) result[first + k] = values[k];
    }
    return result;
  }
};

}  // namespace tenon
