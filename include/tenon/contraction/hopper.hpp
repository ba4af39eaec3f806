// tenon/contraction/hopper.hpp: the product of short floats, tf32 and int8 on Hopper's warpgroups.
// One thread has tiles copied into a ring of stages, two warpgroups multiply them; barriers alone join these roles.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/hopper_tiles.hpp>
#include <tenon/device/cuda_hopper.hpp>
#include <tenon/device/launch.hpp>
#include <tenon/device/workspace.hpp>

namespace tenon {

/// C[rows, columns] = epilogue(sum over depth of left * right) in `steps`. Operands copy what a tile takes of a step:
/// hopper_operand of a matrix, hopper_patches and hopper_weights of a convolution.
template <class Tile, class Element, class Left, class Right, int Rank, class Epilogue>
struct hopper_product_kernel {
  using ring = ring_position<Tile::stages>;
  using stored = fragment_storage<Element>;
  using accumulator = fragment_accumulator<Element>;
  static constexpr const char* name = "hopper_product";
  static constexpr int max_threads = Tile::threads, stages = Tile::stages;
  static constexpr int tile_rows = Tile::rows, tile_columns = Tile::columns, depth_tile = hopper_depth<Element>;
  static constexpr int left_size = tile_rows * depth_tile, right_size = tile_columns * depth_tile;  // of a stage
  static constexpr int stage_bytes = (left_size + right_size) * stored_bytes<Element>;
  static constexpr int sums_of_thread = product_rows * tile_columns / warpgroup_size;
  static constexpr int shared_bytes = stages * stage_bytes + 2 * shared_bytes_of<phase_barrier>(stages) +
                                      shared_bytes_of<accumulator>(Tile::consumer_warps * result_strip::size);
  static constexpr int producer_registers = 40, consumer_registers = 232;

  Left left;
  Right right;
  product_extents<Rank> extents;
  hopper_order order;
  int steps;
  depth_shares<accumulator> shares;
  Epilogue epilogue;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    if constexpr (hopper_unit<Device>::is_available()) {
      hopper_unit<Device> unit(device);
      const auto left_tiles = device.template shared<stored>(stages * left_size);
      const auto right_tiles = device.template shared<stored>(stages * right_size);
      const auto strips = device.template shared<accumulator>(Tile::consumer_warps * result_strip::size);
      const auto full = device.template shared<phase_barrier>(stages);
      const auto empty = device.template shared<phase_barrier>(stages);
      const hopper_stages memory{left_tiles, right_tiles, full, empty};
      if (device.thread() == 0) make_barriers(unit, memory);
      device.sync();
      if (device.thread() < warpgroup_size) {
        unit.template give_registers<producer_registers>();
        if (device.thread() == 0) produce(device, unit, memory);
      } else {
        unit.template take_registers<consumer_registers>();
        consume(device, unit, memory, strips);
      }
    } else {
      Device::refuse();
    }
  }

 private:
  template <class Unit, class Memory>
  TENON_HOST_DEVICE void make_barriers(Unit& unit, const Memory& memory) const {
    unit.prefetch_map(left.map);
    unit.prefetch_map(right.map);
    for (int stage = 0; stage < stages; ++stage) {
      unit.make_barrier(memory.full, stage, 1);
      unit.make_barrier(memory.empty, stage, Tile::consumer_warps);
    }
    unit.show_barriers();
  }

  /// Has the operands of every step of every tile copied, as soon as its stage is empty.
  template <class Device, class Unit, class Memory>
  TENON_HOST_DEVICE void produce(Device& device, Unit& unit, const Memory& memory) const {
    ring at;
    for (int number = device.block().x; number < shares.count(order); number += device.grid_size().x) {
      const hopper_place place = order.place(shares.tile(number));
      const int end = shares.end(number, steps);
      for (int step = shares.first(number); step < end; ++step, at.advance()) {
        unit.wait(memory.empty, at.stage, at.parity ^ 1);
        unit.arrive_expecting(memory.full, at.stage, stage_bytes);
        left.template copy<tile_rows>(unit, {{place.row, step, place.batch}}, memory.left, memory.full, at.stage);
        right.template copy<tile_columns>(unit, {{place.column, step, place.batch}}, memory.right, memory.full,
                                          at.stage);
      }
    }
  }

  /// Multiplies and stores 64 rows of every tile.
  template <class Device, class Unit, class Memory, class Strips>
  TENON_HOST_DEVICE void consume(Device& device, Unit& unit, const Memory& memory, const Strips& strips) const {
    const int own_row = (device.warp() * warp_size / warpgroup_size - 1) * product_rows, skipped = own_row * depth_tile;
    auto own = memory;
    own.left = memory.left.part(skipped, memory.left.size() - skipped);
    ring at;
    accumulator sums[sums_of_thread];
    for (int number = device.block().x; number < shares.count(order); number += device.grid_size().x) {
      const int count = shares.end(number, steps) - shares.first(number);
      if constexpr (is_float8<Element>) {
        multiply_in_parts(device, unit, own, at, count, sums);
      } else if constexpr (multiplies_along_depth<Element>) {
        multiply<row_major, column_major>(device, unit, own, at, count, sums);
      } else {
        multiply_as_left_lies(device, unit, own, at, count, sums);
      }
      if constexpr (Tile::may_share_depth) {
        if (shares.parts > 1 && !add_shares(device, number, sums)) continue;
      }
      store(device, strips, order.place(shares.tile(number)), own_row, sums);
    }
  }
  template <class Device, class Unit, class Memory>
  TENON_HOST_DEVICE TENON_INLINE void multiply_as_left_lies(Device& device, Unit& unit, const Memory& memory, ring& at,
                                                            int count, accumulator (&sums)[sums_of_thread]) const {
    if constexpr (Left::may_have_lines_adjacent) {
      if (left.lines_are_adjacent) return multiply_as_right_lies<column_major>(device, unit, memory, at, count, sums);
    }
    if constexpr (Left::may_have_depth_adjacent) {
      multiply_as_right_lies<row_major>(device, unit, memory, at, count, sums);
    }
  }
  template <class LeftMajor, class Device, class Unit, class Memory>
  TENON_HOST_DEVICE TENON_INLINE void multiply_as_right_lies(Device& device, Unit& unit, const Memory& memory, ring& at,
                                                             int count, accumulator (&sums)[sums_of_thread]) const {
    if constexpr (Right::may_have_lines_adjacent) {
      if (right.lines_are_adjacent) return multiply<LeftMajor, row_major>(device, unit, memory, at, count, sums);
    }
    if constexpr (Right::may_have_depth_adjacent) {
      multiply<LeftMajor, column_major>(device, unit, memory, at, count, sums);
    }
  }
  /// The sums of one tile. They are this function's own while products are under way: registers that the four orders of
  /// operands shared would be moved, and every product would wait for that.
  template <class LeftMajor, class RightMajor, class Device, class Unit, class Memory>
  TENON_HOST_DEVICE TENON_INLINE void multiply(Device& device, Unit& unit, const Memory& memory, ring& at, int count,
                                               accumulator (&results)[sums_of_thread]) const {
    std::uint32_t sums[sums_of_thread];
    int previous = 0;
    for (int step = 0; step < count; ++step, at.advance()) {
      begin_step<LeftMajor, RightMajor>(unit, memory, at, sums, step > 0);
      unit.template wait_products<1>();  // those of the step before
      if (step > 0 && device.lane() == 0) unit.arrive(memory.empty, previous);
      previous = at.stage;
    }
    unit.finish_products(sums);
    if (device.lane() == 0) unit.arrive(memory.empty, previous);
    for (int i = 0; i < sums_of_thread; ++i) results[i] = sum_of_word<accumulator>(sums[i]);
  }
  /// The same of floats of 8 bits, which matrix units add with few bits: the sums of every step are added in float. The
  /// other warpgroup multiplies meanwhile.
  template <class Device, class Unit, class Memory>
  TENON_HOST_DEVICE TENON_INLINE void multiply_in_parts(Device& device, Unit& unit, const Memory& memory, ring& at,
                                                        int count, accumulator (&results)[sums_of_thread]) const {
    for (accumulator& each : results) each = 0;
    for (int step = 0; step < count; ++step, at.advance()) {
      std::uint32_t sums[sums_of_thread];
      begin_step<row_major, column_major>(unit, memory, at, sums, false);
      unit.finish_products(sums);
      if (device.lane() == 0) unit.arrive(memory.empty, at.stage);
      for (int i = 0; i < sums_of_thread; ++i) results[i] += sum_of_word<accumulator>(sums[i]);
    }
  }
  /// Starts the products of one step as soon as its operands are there.
  template <class LeftMajor, class RightMajor, class Unit, class Memory>
  TENON_HOST_DEVICE TENON_INLINE void begin_step(Unit& unit, const Memory& memory, const ring& at,
                                                 std::uint32_t (&sums)[sums_of_thread], bool adds) const {
    using product = warpgroup_product<Element, tile_columns, LeftMajor, RightMajor>;
    using left_layout = hopper_layout<Element, product_rows, product::left_has_rows_adjacent>;
    using right_layout = hopper_layout<Element, tile_columns, product::right_has_columns_adjacent>;
    unit.wait(memory.full, at.stage, at.parity);
    const auto a = left_layout::describe(unit, memory.left, at.stage * left_size);
    const auto b = right_layout::describe(unit, memory.right, at.stage * right_size);
    unit.begin_products();
    for (int i = 0; i < depth_tile / product_depth<Element>; ++i) {
      unit.template multiply<product>(sums, a.advanced(i * left_layout::step_bytes),
                                      b.advanced(i * right_layout::step_bytes), adds || i > 0);
    }
    unit.commit_products();
  }

  /// Leaves the sums of this share of the depth; in the warps that are the last of their rows, adds those of all shares
  /// in their order, and answers true.
  template <class Device>
  TENON_HOST_DEVICE bool add_shares(Device& device, int number, accumulator (&sums)[sums_of_thread]) const {
    constexpr int size = 4, warp_sums = sums_of_thread * warp_size;
    const int tile = shares.tile(number), warp = device.warp() - warpgroup_size / warp_size;
    accumulator* const first = shares.sums + (index{tile} * shares.parts * Tile::consumer_warps + warp) * warp_sums;
    constexpr index from_share_to_share = index{Tile::consumer_warps} * warp_sums;
    accumulator* const own = first + shares.part(number) * from_share_to_share + device.lane() * size;
    TENON_UNROLLED
    for (int i = 0; i < sums_of_thread; i += size) {
      store_packet(own + i * warp_size, packet<accumulator, size>{{sums[i], sums[i + 1], sums[i + 2], sums[i + 3]}});
    }
    if (!is_last_warp(device, shares.counters + tile * Tile::consumer_warps + warp, shares.parts)) return false;
    TENON_UNROLLED
    for (accumulator& each : sums) each = 0;
    for (int part = 0; part < shares.parts; ++part) {
      const accumulator* const from = first + part * from_share_to_share + device.lane() * size;
      TENON_UNROLLED
      for (int i = 0; i < sums_of_thread; i += size) {
        const auto left_sums = load_packet<size>(from + i * warp_size);
        for (int k = 0; k < size; ++k) sums[i + k] += left_sums.elements[k];
      }
    }
    return true;
  }
  /// Stores the results of a warp, 16 rows, by way of its strip.
  template <class Device, class Strips>
  TENON_HOST_DEVICE void store(Device& device, const Strips& strips, const hopper_place& place, int own_row,
                               const accumulator (&sums)[sums_of_thread]) const {
    const int warp = device.warp() - warpgroup_size / warp_size;
    const auto strip = strips.part(warp * result_strip::size, result_strip::size);
    const auto finish = epilogue.at_batch(extents.batch_position(place.batch));
    const auto lines = left.template lines_of<tile_rows>(place.row);
    const strip_writer<Device, Strips, std::remove_const_t<decltype(lines)>, Epilogue> writer{
        device,
        strip,
        finish,
        lines,
        own_row + row_of_sum(warp * warp_size, 0),
        place.column,
        {{extents.rows, extents.columns}}};
    store_parts(writer, sums, std::make_integer_sequence<int, Tile::columns / result_strip::columns>{});
  }
  template <class Writer, int... Part>
  TENON_HOST_DEVICE TENON_INLINE void store_parts(const Writer& writer, const accumulator (&sums)[sums_of_thread],
                                                  std::integer_sequence<int, Part...>) const {
    constexpr int pairs = result_strip::columns / 8 * 2;
    (store_part(writer, sums + Part * pairs * 2, Part * result_strip::columns,
                std::make_integer_sequence<int, pairs>{}),
     ...);
  }
  /// Every sum is named by a constant, since registers have no addresses.
  template <class Writer, int... Pair>
  TENON_HOST_DEVICE TENON_INLINE void store_part(const Writer& writer, const accumulator* sums, int first_column,
                                                 std::integer_sequence<int, Pair...>) const {
    const int lane = writer.device.lane();
    writer.device.sync_warp();
    (writer.put(row_of_sum(lane, Pair), column_of_sum(lane, Pair), sums[2 * Pair], sums[2 * Pair + 1]), ...);
    writer.device.sync_warp();
    writer.store(first_column);
  }
};

/// Launches a kernel on at most `blocks`; as many as `parts` of them share the depth of a tile.
template <class Space, class Tile, class Kernel>
void launch_hopper_kernel(Kernel kernel, int blocks, int parts) {
  const int share = (kernel.steps + parts - 1) / parts;
  kernel.shares.parts = share == 0 ? 1 : (kernel.steps + share - 1) / share, kernel.shares.steps = share;
  const index tile = index{Tile::rows} * Tile::columns;
  const bool is_shared = kernel.shares.parts > 1;
  const auto places = workspace_places<Space, typename Kernel::accumulator>::take(
      is_shared ? kernel.order.count * kernel.shares.parts * tile : 0);
  kernel.shares.sums = get<0>(places.values), kernel.shares.counters = places.counters;
  const int count = kernel.shares.count(kernel.order);
  const launch_shape shape{
      .grid = {count < blocks ? count : blocks}, .block = Tile::threads, .shared_bytes = Kernel::shared_bytes};
  launch<Space>(shape, kernel);
  places.launched();
}

}  // namespace tenon
