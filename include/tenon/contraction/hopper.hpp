// tenon/contraction/hopper.hpp: the product of short floats on Hopper's warpgroups.
// One thread has tiles copied into a ring of stages, two warpgroups multiply them; barriers alone join these roles.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/hopper_tiles.hpp>
#include <tenon/contraction/result_strip.hpp>
#include <tenon/device/launch.hpp>

namespace tenon {

/// C[rows, columns] = epilogue(sum over depth of left * right); `Map` is what the device makes of a tiled_tensor.
template <class Tile, class Element, class Map, int Rank, class Epilogue>
struct hopper_product_kernel {
  using ring = ring_position<Tile::stages>;
  static constexpr const char* name = "hopper_product";
  static constexpr int max_threads = Tile::threads, stages = Tile::stages;
  static constexpr int tile_rows = Tile::rows, tile_columns = Tile::columns, depth_tile = hopper_depth<Element>;
  static constexpr int left_size = tile_rows * depth_tile, right_size = tile_columns * depth_tile;  // of a stage
  static constexpr int stage_bytes = (left_size + right_size) * static_cast<int>(sizeof(Element));
  static constexpr int sums_of_thread = product_rows * tile_columns / warpgroup_size;
  static constexpr int shared_bytes = stages * stage_bytes + 2 * shared_bytes_of<phase_barrier>(stages) +
                                      shared_bytes_of<float>(Tile::consumer_warps * result_strip::size);
  static constexpr int producer_registers = 40, consumer_registers = 232;

  hopper_operand<Map> left, right;
  product_extents<Rank> extents;
  hopper_order order;
  Epilogue epilogue;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    if constexpr (hopper_unit<Device>::is_available()) {
      hopper_unit<Device> unit(device);
      const auto left_tiles = device.template shared<Element>(stages * left_size);
      const auto right_tiles = device.template shared<Element>(stages * right_size);
      const auto strips = device.template shared<float>(Tile::consumer_warps * result_strip::size);
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
      hopper_unit<Device>::refuse();
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
  TENON_HOST_DEVICE int steps() const { return static_cast<int>((extents.depth + depth_tile - 1) / depth_tile); }

  /// Has the operands of every step of every tile copied, as soon as its stage is empty.
  template <class Device, class Unit, class Memory>
  TENON_HOST_DEVICE void produce(Device& device, Unit& unit, const Memory& memory) const {
    ring at;
    for (int number = device.block().x; number < order.count; number += device.grid_size().x) {
      const hopper_place place = order.place(number);
      for (int step = 0; step < steps(); ++step, at.advance()) {
        unit.wait(memory.empty, at.stage, at.parity ^ 1);
        unit.arrive_expecting(memory.full, at.stage, stage_bytes);
        const int depth = step * depth_tile;
        left.template copy<tile_rows>(unit, {{place.row, depth, place.batch}}, memory.left, memory.full, at.stage);
        right.template copy<tile_columns>(unit, {{place.column, depth, place.batch}}, memory.right, memory.full,
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
    float sums[sums_of_thread];
    for (int number = device.block().x; number < order.count; number += device.grid_size().x) {
      if constexpr (is_float8<Element>) {
        multiply_in_parts(device, unit, own, at, sums);
      } else if (left.lines_are_adjacent) {
        if (right.lines_are_adjacent) multiply<column_major, row_major>(device, unit, own, at, sums);
        else multiply<column_major, column_major>(device, unit, own, at, sums);
      } else {
        if (right.lines_are_adjacent) multiply<row_major, row_major>(device, unit, own, at, sums);
        else multiply<row_major, column_major>(device, unit, own, at, sums);
      }
      store(device, strips, order.place(number), own_row, sums);
    }
  }
  /// The sums of one tile. They are this function's own while products are under way: registers that the four orders of
  /// operands shared would be moved, and every product would wait for that.
  template <class Left, class Right, class Device, class Unit, class Memory>
  TENON_HOST_DEVICE TENON_INLINE void multiply(Device& device, Unit& unit, const Memory& memory, ring& at,
                                               float (&results)[sums_of_thread]) const {
    float sums[sums_of_thread];
    int previous = 0;
    for (int step = 0; step < steps(); ++step, at.advance()) {
      begin_step<Left, Right>(unit, memory, at, sums, step > 0);
      unit.template wait_products<1>();  // those of the step before
      if (step > 0 && device.lane() == 0) unit.arrive(memory.empty, previous);
      previous = at.stage;
    }
    unit.finish_products(sums);
    if (device.lane() == 0) unit.arrive(memory.empty, previous);
    for (int i = 0; i < sums_of_thread; ++i) results[i] = sums[i];
  }
  /// The same of floats of 8 bits, which matrix units add with few bits: the sums of every step are added in float. The
  /// other warpgroup multiplies meanwhile.
  template <class Device, class Unit, class Memory>
  TENON_HOST_DEVICE TENON_INLINE void multiply_in_parts(Device& device, Unit& unit, const Memory& memory, ring& at,
                                                        float (&results)[sums_of_thread]) const {
    for (float& each : results) each = 0;
    for (int step = 0; step < steps(); ++step, at.advance()) {
      float sums[sums_of_thread];
      begin_step<row_major, column_major>(unit, memory, at, sums, false);
      unit.finish_products(sums);
      if (device.lane() == 0) unit.arrive(memory.empty, at.stage);
      for (int i = 0; i < sums_of_thread; ++i) results[i] += sums[i];
    }
  }
  /// Starts the products of one step as soon as its operands are there.
  template <class Left, class Right, class Unit, class Memory>
  TENON_HOST_DEVICE TENON_INLINE void begin_step(Unit& unit, const Memory& memory, const ring& at,
                                                 float (&sums)[sums_of_thread], bool adds) const {
    using product = warpgroup_product<Element, tile_columns, Left, Right>;
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

  /// Stores the results of a warp, 16 rows, by way of its strip.
  template <class Device, class Strips>
  TENON_HOST_DEVICE void store(Device& device, const Strips& strips, const hopper_place& place, int own_row,
                               const float (&sums)[sums_of_thread]) const {
    const int warp = device.warp() - warpgroup_size / warp_size;
    const auto strip = strips.part(warp * result_strip::size, result_strip::size);
    const auto finish = epilogue.at_batch(extents.batch_position(place.batch));
    const strip_writer<Device, Strips, Epilogue> writer{
        device,       strip,
        finish,       place.row + own_row + row_of_sum(warp * warp_size, 0),
        place.column, {{extents.rows, extents.columns}}};
    store_parts(writer, sums, std::make_integer_sequence<int, Tile::columns / result_strip::columns>{});
  }
  template <class Writer, int... Part>
  TENON_HOST_DEVICE TENON_INLINE void store_parts(const Writer& writer, const float (&sums)[sums_of_thread],
                                                  std::integer_sequence<int, Part...>) const {
    constexpr int pairs = result_strip::columns / 8 * 2;
    (store_part(writer, sums + Part * pairs * 2, Part * result_strip::columns,
                std::make_integer_sequence<int, pairs>{}),
     ...);
  }
  /// Every sum is named by a constant, since registers have no addresses.
  template <class Writer, int... Pair>
  TENON_HOST_DEVICE TENON_INLINE void store_part(const Writer& writer, const float* sums, int first_column,
                                                 std::integer_sequence<int, Pair...>) const {
    const int lane = writer.device.lane();
    writer.device.sync_warp();
    (writer.put(row_of_sum(lane, Pair), column_of_sum(lane, Pair), sums[2 * Pair], sums[2 * Pair + 1]), ...);
    writer.device.sync_warp();
    writer.store(first_column);
  }
};

}  // namespace tenon
