// tenon/contraction/hopper.hpp: the product of short floats on Hopper's warpgroups.
// One thread has tiles copied into a ring of stages, two warpgroups multiply them; barriers alone join these roles.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/hopper_tiles.hpp>
#include <tenon/contraction/matrix_memory.hpp>
#include <tenon/device/cuda_hopper.hpp>
#include <tenon/device/launch.hpp>

namespace tenon {

/// C[rows, columns] = epilogue(sum over depth of left * right) in `steps`. Operands copy what a tile takes of a step:
/// hopper_operand of a matrix, hopper_patches and hopper_weights of a convolution.
template <class Tile, class Element, class Left, class Right, int Rank, class Epilogue>
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

  Left left;
  Right right;
  product_extents<Rank> extents;
  hopper_order order;
  int steps;
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

  /// Has the operands of every step of every tile copied, as soon as its stage is empty.
  template <class Device, class Unit, class Memory>
  TENON_HOST_DEVICE void produce(Device& device, Unit& unit, const Memory& memory) const {
    ring at;
    for (int number = device.block().x; number < order.count; number += device.grid_size().x) {
      const hopper_place place = order.place(number);
      for (int step = 0; step < steps; ++step, at.advance()) {
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
    float sums[sums_of_thread];
    for (int number = device.block().x; number < order.count; number += device.grid_size().x) {
      if constexpr (is_float8<Element>) {
        multiply_in_parts(device, unit, own, at, sums);
      } else {
        multiply_as_left_lies(device, unit, own, at, sums);
      }
      store(device, strips, order.place(number), own_row, sums);
    }
  }
  template <class Device, class Unit, class Memory>
  TENON_HOST_DEVICE TENON_INLINE void multiply_as_left_lies(Device& device, Unit& unit, const Memory& memory, ring& at,
                                                            float (&sums)[sums_of_thread]) const {
    if constexpr (Left::may_have_lines_adjacent) {
      if (left.lines_are_adjacent) return multiply_as_right_lies<column_major>(device, unit, memory, at, sums);
    }
    multiply_as_right_lies<row_major>(device, unit, memory, at, sums);
  }
  template <class LeftMajor, class Device, class Unit, class Memory>
  TENON_HOST_DEVICE TENON_INLINE void multiply_as_right_lies(Device& device, Unit& unit, const Memory& memory, ring& at,
                                                             float (&sums)[sums_of_thread]) const {
    if (right.lines_are_adjacent) multiply<LeftMajor, row_major>(device, unit, memory, at, sums);
    else multiply<LeftMajor, column_major>(device, unit, memory, at, sums);
  }
  /// The sums of one tile. They are this function's own while products are under way: registers that the four orders of
  /// operands shared would be moved, and every product would wait for that.
  template <class LeftMajor, class RightMajor, class Device, class Unit, class Memory>
  TENON_HOST_DEVICE TENON_INLINE void multiply(Device& device, Unit& unit, const Memory& memory, ring& at,
                                               float (&results)[sums_of_thread]) const {
    float sums[sums_of_thread];
    int previous = 0;
    for (int step = 0; step < steps; ++step, at.advance()) {
      begin_step<LeftMajor, RightMajor>(unit, memory, at, sums, step > 0);
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
    for (int step = 0; step < steps; ++step, at.advance()) {
      float sums[sums_of_thread];
      begin_step<row_major, column_major>(unit, memory, at, sums, false);
      unit.finish_products(sums);
      if (device.lane() == 0) unit.arrive(memory.empty, at.stage);
      for (int i = 0; i < sums_of_thread; ++i) results[i] += sums[i];
    }
  }
  /// Starts the products of one step as soon as its operands are there.
  template <class LeftMajor, class RightMajor, class Unit, class Memory>
  TENON_HOST_DEVICE TENON_INLINE void begin_step(Unit& unit, const Memory& memory, const ring& at,
                                                 float (&sums)[sums_of_thread], bool adds) const {
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

  /// Stores the results of a warp, 16 rows, by way of its strip.
  template <class Device, class Strips>
  TENON_HOST_DEVICE void store(Device& device, const Strips& strips, const hopper_place& place, int own_row,
                               const float (&sums)[sums_of_thread]) const {
    const int warp = device.warp() - warpgroup_size / warp_size;
    const auto strip = strips.part(warp * result_strip::size, result_strip::size);
    const auto finish = epilogue.at_batch(extents.batch_position(place.batch));
    const auto lines = left.template lines_of<tile_rows>(place.row);
    const strip_writer<Device, Strips, std::remove_const_t<decltype(lines)>, Epilogue> writer{
        device, strip, finish, lines, own_row + row_of_sum(warp * warp_size, 0), place.column,
        {{extents.rows, extents.columns}}};
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

/// An operand in memory: lines (rows of the left one, columns of the right one) of which neighbours, or whose elements
/// along the depth, lie side by side. In elements.
struct hopper_memory {
  const void* data = nullptr;  // null where tiles cannot be copied of it
  bool lines_are_adjacent = false;
  index lines = 0, depth = 0, batches = 1;
  index pitch = 0, batch_step = 0;

  bool has_batches() const { return batch_step != 0; }
  /// The tensor that tiles of `tile_lines` are copied of.
  template <int TileLines>
  tiled_tensor tensor(int element_bytes) const {
    const int width = swizzle_row_bytes / element_bytes;
    const int tile_rows = lines_are_adjacent ? width : TileLines;
    const index along = lines_are_adjacent ? lines : depth, across = lines_are_adjacent ? depth : lines;
    return {data,
            {{along, across, has_batches() ? batches : 1}},
            {{pitch * element_bytes, (has_batches() ? batch_step : across * pitch) * element_bytes}},
            {{width, tile_rows}}};
  }
};

namespace detail {

/// The step from batch to batch where it is the same from each to the next, else -1.
template <class Matrix, int Rank>
index batch_step_of(const Matrix& matrix, const product_extents<Rank>& extents) {
  const auto offset = [&](index batch) {
    return memory_of(matrix.at_batch(extents.batch_position(batch))).data - memory_of(matrix).data;
  };
  if (extents.batch_count() < 2) return 0;
  const index step = offset(1);
  index number = 1;  // of the first batch that is 1 along an axis
  for (int axis = Rank - 1; axis >= 0; --axis) {
    if (extents.batches[axis] > 1 && offset(number) != number * step) return -1;
    number *= extents.batches[axis];
  }
  return step;
}

/// Whether tiles can be copied of elements of `bytes`; an extent of 1 needs no step.
inline bool takes_tiles(const void* data, index pitch, index batch_step, int bytes) {
  const auto fits = [bytes](index step) {
    return step >= 0 && step * bytes % tile_copy_alignment == 0 && step < (index{1} << 40) / bytes;
  };
  return reinterpret_cast<std::uintptr_t>(data) % tile_copy_alignment == 0 && pitch > 0 && fits(pitch) &&
         fits(batch_step);
}

}  // namespace detail

/// An operand as Hopper's product takes it. `lines` and `depth` are the extents of the matrix; its rows are the lines
/// where `rows_are_lines`.
template <class Element, class Matrix, int Rank>
hopper_memory hopper_memory_of(const Matrix& matrix, bool rows_are_lines, index lines, index depth,
                               const product_extents<Rank>& extents) {
  if constexpr (std::is_same_v<memory_element_of<Matrix>, Element>) {
    const auto memory = memory_of(matrix);
    if (memory.data == nullptr) return {};
    const index line_step = rows_are_lines ? memory.row_step : memory.column_step;
    const index depth_step = rows_are_lines ? memory.column_step : memory.row_step;
    const bool lines_are_adjacent = depth_step != 1;
    if (lines_are_adjacent && (line_step != 1 || is_float8<Element>)) return {};
    const index pitch = lines_are_adjacent ? depth_step : line_step;
    const index batch_step = detail::batch_step_of(matrix, extents);
    if (!detail::takes_tiles(memory.data, pitch, batch_step, static_cast<int>(sizeof(Element)))) return {};
    return {memory.data, lines_are_adjacent, lines, depth, extents.batch_count(), pitch, batch_step};
  } else {
    return {};
  }
}

/// Both operands of a product.
struct hopper_operands {
  hopper_memory left, right;
};
template <class Element, int Rank, class Left, class Right>
hopper_operands hopper_operands_of(const product_extents<Rank>& extents, const Left& left, const Right& right) {
  return {hopper_memory_of<Element>(left, true, extents.rows, extents.depth, extents),
          hopper_memory_of<Element>(right, false, extents.columns, extents.depth, extents)};
}

/// Whether Hopper's kernel can compute a product, and there is enough of it for a tile.
template <int Rank>
bool hopper_takes(const product_extents<Rank>& extents, const hopper_operands& operands) {
  constexpr index least_rows = 32, least_columns = 32, least_depth = 64, most = index{1} << 30;
  const index least_tile = index{square_hopper_tile::rows} * square_hopper_tile::columns;
  return operands.left.data != nullptr && operands.right.data != nullptr && extents.rows >= least_rows &&
         extents.columns >= least_columns && extents.depth >= least_depth && extents.rows < most &&
         extents.columns < most && extents.depth < most && extents.batch_count() > 0 &&
         (extents.rows / least_tile + 1) * extents.columns < most / extents.batch_count();
}

/// Computes a product that Hopper's kernel takes, in one launch of at most `blocks`.
template <class Space, class Tile, class Element, int Rank, class Epilogue>
void launch_hopper_product(const product_extents<Rank>& extents, const hopper_operands& operands,
                           const Epilogue& epilogue, int blocks) {
  using maps = tile_maps<Space>;
  using operand_type = hopper_operand<typename maps::map>;
  using kernel_type = hopper_product_kernel<Tile, Element, operand_type, operand_type, Rank, Epilogue>;
  const auto operand = [](const hopper_memory& memory, const tiled_tensor& tensor) {
    return operand_type{maps::template make<Element>(tensor), memory.lines_are_adjacent, memory.has_batches()};
  };
  constexpr int bytes = static_cast<int>(sizeof(Element)), step_depth = kernel_type::depth_tile;
  const kernel_type kernel{operand(operands.left, operands.left.template tensor<Tile::rows>(bytes)),
                           operand(operands.right, operands.right.template tensor<Tile::columns>(bytes)), extents,
                           order_of_tiles<Tile>(extents.rows, extents.columns, extents.batch_count()),
                           static_cast<int>((extents.depth + step_depth - 1) / step_depth), epilogue};
  const launch_shape shape{.grid = {kernel.order.count < blocks ? kernel.order.count : blocks},
                           .block = Tile::threads,
                           .shared_bytes = kernel_type::shared_bytes};
  launch<Space>(shape, kernel);
}

/// Whether wide tiles take less time than square ones: of twice the results they take nine tenths of the time each,
/// but the last blocks to work leave more processors idle.
constexpr bool prefers_wide_tiles(int wide_tiles, int square_tiles, int processors) {
  const auto rounds = [processors](int tiles) { return (tiles + processors - 1) / processors; };
  return 18 * rounds(wide_tiles) <= 10 * rounds(square_tiles);
}

namespace detail {

/// Whether a space tells of its processors. Emulated ones run this kernel where a test launches it.
template <class Space>
inline constexpr bool has_processors = requires { launcher<Space>::properties(); };

/// Processors of the device if code of Hopper's kernel was made for it, else 0. What a processor of another kind finds
/// in its place is a stub, known by its few registers.
template <class Space, class Kernel>
int hopper_processors() {
  constexpr int architecture = 90, most_of_stub = 64;
  const auto& properties = launcher<Space>::properties();
  if (properties.architecture != architecture) return 0;
  return launcher<Space>::template registers_of<Kernel>() > most_of_stub ? properties.multiprocessors : 0;
}

}  // namespace detail

namespace on_device {

/// Products of short floats in memory on Hopper's warpgroups, where the device has them and code for sm_90a is there;
/// one launch.
struct warpgroup_tiles {
  static constexpr const char* name = "tiles of warpgroups";
  template <class Problem>
  static constexpr bool can_take = [] {
    using element = typename Problem::product_type::element;
    return is_short_float<element> && std::is_same_v<memory_element_of<typename Problem::left_type>, element> &&
           std::is_same_v<memory_element_of<typename Problem::right_type>, element> &&
           detail::has_processors<typename Problem::space>;
  }();
  template <class Problem>
  static bool takes(const Problem& problem) {
    return hopper_takes(problem.extents, operands_of(problem)) && processors_for(problem) != 0;
  }
  template <class Problem>
  static void run(const Problem& problem) {
    using space = typename Problem::space;
    using element = typename Problem::product_type::element;
    auto extents = problem.extents;
    auto operands = operands_of(problem);
    const auto epilogue = problem.exchangeable_epilogue();
    if (epilogue.is_exchanged) {
      std::swap(extents.rows, extents.columns);
      std::swap(operands.left, operands.right);
    }
    const int processors = processors_for(problem);
    const auto tiles_of = [&](auto tile) {
      return order_of_tiles<decltype(tile)>(extents.rows, extents.columns, extents.batch_count()).count;
    };
    if constexpr (!is_float8<element>) {  // whose sums take twice the registers
      if (prefers_wide_tiles(tiles_of(wide_hopper_tile{}), tiles_of(square_hopper_tile{}), processors)) {
        return launch_hopper_product<space, wide_hopper_tile, element>(extents, operands, epilogue, processors);
      }
    }
    launch_hopper_product<space, square_hopper_tile, element>(extents, operands, epilogue, processors);
  }

 private:
  template <class Problem>
  static hopper_operands operands_of(const Problem& problem) {
    return hopper_operands_of<typename Problem::product_type::element>(problem.extents, problem.left(),
                                                                       problem.right());
  }
  template <class Problem>
  static int processors_for(const Problem& problem) {
    using space = typename Problem::space;
    using operand = hopper_operand<typename tile_maps<space>::map>;
    using kernel = hopper_product_kernel<square_hopper_tile, typename Problem::product_type::element, operand, operand,
                                         Problem::product_type::shape_type::rank, decltype(problem.epilogue())>;
    return detail::hopper_processors<space, kernel>();
  }
};

}  // namespace on_device

}  // namespace tenon
