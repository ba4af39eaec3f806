// tenon/contraction/hopper_matrices.hpp: which products of matrices Hopper's kernel takes, and how.
// Operands lie in memory as tiles can be copied of them: lines or the depth side by side.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/arranged_operand.hpp>
#include <tenon/contraction/hopper.hpp>
#include <tenon/contraction/matrix_memory.hpp>

namespace tenon {

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

/// An operand as it lies in memory, where Hopper's product takes it so or in a copy. `lines` and `depth` are the
/// extents of the matrix; its rows are the lines where `rows_are_lines`.
template <class Element, class Matrix, int Rank>
hopper_memory hopper_memory_of(const Matrix& matrix, bool rows_are_lines, index lines, index depth,
                               const product_extents<Rank>& extents) {
  if constexpr (std::is_same_v<memory_element_of<Matrix>, fragment_storage<Element>>) {
    const auto memory = memory_of(matrix);
    if (memory.data == nullptr) return {};
    const index line_step = rows_are_lines ? memory.row_step : memory.column_step;
    const index depth_step = rows_are_lines ? memory.column_step : memory.row_step;
    const bool lines_are_adjacent = depth_step != 1;
    if (lines_are_adjacent && line_step != 1) return {};
    const index pitch = lines_are_adjacent ? depth_step : line_step;
    const index batch_step = detail::batch_step_of(matrix, extents);
    const bool is_copied = multiplies_along_depth<Element> && lines_are_adjacent && pitch > 0 && batch_step >= 0;
    if (!is_copied && !detail::takes_tiles(memory.data, pitch, batch_step, stored_bytes<Element>)) return {};
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

/// Makes `memory` that of a copy with the depth side by side, at an address that nobody reads, where warpgroups
/// multiply elements along the depth and lines lie side by side. Returns the planes to copy, no images where there is
/// no copy.
template <class Element>
plane_memory<fragment_storage<Element>> planes_to_copy(hopper_memory& memory) {
  using stored = fragment_storage<Element>;
  if (!multiplies_along_depth<Element> || memory.data == nullptr || !memory.lines_are_adjacent) return {};
  const plane_memory<stored> planes{static_cast<const stored*>(memory.data),
                                    memory.has_batches() ? memory.batches : 1,
                                    memory.batch_step,
                                    memory.depth,
                                    memory.lines,
                                    memory.pitch};
  memory.data = reinterpret_cast<const void*>(copy_to_come);
  memory.lines_are_adjacent = false, memory.pitch = planes.pitch();
  if (memory.has_batches()) memory.batch_step = memory.lines * memory.pitch;
  return planes;
}

/// Copies of the operands that warpgroups do not take as they lie. From here on these are the operands, which must not
/// outlive them.
template <class Space, class Element>
struct depth_copies {
  using stored = fragment_storage<Element>;
  storage<stored, Space> left, right;

  explicit depth_copies(hopper_operands& operands) : left(made_of(operands.left)), right(made_of(operands.right)) {}

 private:
  static storage<stored, Space> made_of(hopper_memory& memory) {
    if constexpr (multiplies_along_depth<Element>) {
      const auto planes = planes_to_copy<Element>(memory);
      if (planes.images == 0) return {};
      storage<stored, Space> copy(planes.copied());
      copy_planes<Space, 16 / stored_bytes<Element>>(planes, copy.data());
      memory.data = copy.data();
      return copy;
    } else {
      return {};
    }
  }
};

/// Multiplications that are worth a copy of an operand before them.
inline constexpr index worth_copies = index{1} << 26;

/// Whether a product is worth the copies of its operands: each element of a copy is read for many results.
template <class Element, int Rank>
bool is_worth_depth_copies(const product_extents<Rank>& extents, hopper_operands operands) {
  constexpr index least_lines = 256, most = index{1} << 34;
  const auto left = planes_to_copy<Element>(operands.left), right = planes_to_copy<Element>(operands.right);
  if (left.images == 0 && right.images == 0) return true;
  return (left.images == 0 || extents.columns >= least_lines) && (right.images == 0 || extents.rows >= least_lines) &&
         left.copied() < most && right.copied() < most &&
         extents.rows * extents.columns * extents.depth * extents.batch_count() >= worth_copies;
}

/// Whether a product has enough rows and columns for tiles of warpgroups, or so large a matrix for a few of them that
/// memory decides the time: tiles keep more of the matrix on its way than threads can. Batches of products that would
/// leave three quarters of each tile empty are left to smaller tiles.
template <int Rank>
bool fills_warpgroup_tiles(const product_extents<Rank>& extents) {
  constexpr index enough = 32, short_side = 64, long_side = 256, long_depth = 512, large_matrix = index{1} << 22;
  const bool is_flat = extents.rows < extents.columns;
  const index few = is_flat ? extents.rows : extents.columns, many = is_flat ? extents.columns : extents.rows;
  if (few >= enough) return many > short_side || extents.batch_count() == 1;
  return few > 1 && many >= long_side && extents.depth >= long_depth &&
         extents.batch_count() * many * extents.depth >= large_matrix;
}

/// Whether Hopper's kernel can compute a product, and there is enough of it for a tile.
template <int Rank>
bool hopper_takes(const product_extents<Rank>& extents, const hopper_operands& operands) {
  constexpr index least_depth = 64, most = index{1} << 30;
  const index least_tile = index{square_hopper_tile::rows} * square_hopper_tile::columns;
  return operands.left.data != nullptr && operands.right.data != nullptr && fills_warpgroup_tiles(extents) &&
         extents.depth >= least_depth && extents.rows < most && extents.columns < most && extents.depth < most &&
         extents.batch_count() > 0 && (extents.rows / least_tile + 1) * extents.columns < most / extents.batch_count();
}

/// Computes a product that Hopper's kernel takes, in one launch of at most `blocks`.
template <class Space, class Tile, class Element, int Rank, class Epilogue>
void launch_hopper_product(const product_extents<Rank>& extents, const hopper_operands& operands,
                           const Epilogue& epilogue, int blocks, int parts = 1) {
  using maps = tile_maps<Space>;
  using operand_type = hopper_operand<typename maps::map>;
  using kernel_type = hopper_product_kernel<Tile, Element, operand_type, operand_type, Rank, Epilogue>;
  const auto operand = [](const hopper_memory& memory, const tiled_tensor& tensor) {
    return operand_type{maps::template make<Element>(tensor), memory.lines_are_adjacent, memory.has_batches()};
  };
  constexpr int bytes = stored_bytes<Element>, step_depth = kernel_type::depth_tile;
  const kernel_type kernel{operand(operands.left, operands.left.template tensor<Tile::rows>(bytes)),
                           operand(operands.right, operands.right.template tensor<Tile::columns>(bytes)),
                           extents,
                           order_of_tiles<Tile>(extents.rows, extents.columns, extents.batch_count()),
                           static_cast<int>((extents.depth + step_depth - 1) / step_depth),
                           {},
                           epilogue};
  launch_hopper_kernel<Space, Tile>(kernel, blocks, parts);
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

/// Processors of the device if code of Hopper's kernel for `Problem` and such operands was made for it, else 0. What a
/// processor of another kind finds in its place is a stub, known by its few registers.
template <class Problem, class Element, class Tile, class Left, class Right = Left>
int hopper_processors() {
  using space = typename Problem::space;
  using product = typename Problem::product_type;
  using kernel = hopper_product_kernel<Tile, Element, Left, Right, product::shape_type::rank,
                                       decltype(std::declval<const Problem&>().epilogue())>;
  constexpr int architecture = 90, most_of_stub = 64;
  const auto& properties = launcher<space>::properties();
  if (properties.architecture != architecture) return 0;
  return launcher<space>::template registers_of<kernel>() > most_of_stub ? properties.multiprocessors : 0;
}

}  // namespace detail

namespace on_device {

/// Products of short floats, tf32 and int8 in memory on Hopper's warpgroups, where the device has them and code for
/// sm_90a is there. One launch; elements that have not 16 bits are copied before by one more, where their lines lie
/// side by side and there is much to do.
struct warpgroup_tiles {
  static constexpr const char* name = "tiles of warpgroups";
  /// The type that warpgroups multiply; other units multiply halves in place of floats of 8 bits.
  template <class Problem>
  using element_of = std::conditional_t<is_float8<typename Problem::product_type::element>,
                                        typename Problem::product_type::element, typename Problem::units::operand>;
  template <class Problem>
  static constexpr bool can_take = [] {
    using element = element_of<Problem>;
    if constexpr (!has_warpgroup_products<element>) {
      return false;
    } else {
      using stored = fragment_storage<element>;
      return std::is_same_v<memory_element_of<typename Problem::left_type>, stored> &&
             std::is_same_v<memory_element_of<typename Problem::right_type>, stored> &&
             detail::has_processors<typename Problem::space>;
    }
  }();
  template <class Problem>
  static bool takes(const Problem& problem) {
    auto operands = operands_of(problem);
    if (!hopper_takes(problem.extents, operands) ||
        !is_worth_depth_copies<element_of<Problem>>(problem.extents, operands))
      return false;
    planes_to_copy<element_of<Problem>>(operands.left), planes_to_copy<element_of<Problem>>(operands.right);
    return processors_for(problem) != 0 && has_maps<Problem>(operands);
  }
  template <class Problem>
  static void run(const Problem& problem) {
    using space = typename Problem::space;
    using element = element_of<Problem>;
    auto extents = problem.extents;
    auto operands = operands_of(problem);
    const depth_copies<space, element> copies(operands);
    const auto epilogue = problem.exchangeable_epilogue();
    if (epilogue.is_exchanged) {
      std::swap(extents.rows, extents.columns);
      std::swap(operands.left, operands.right);
    }
    const int processors = processors_for(problem);
    const auto tiles_of = [&](auto tile) {
      return order_of_tiles<decltype(tile)>(extents.rows, extents.columns, extents.batch_count()).count;
    };
    const int steps = static_cast<int>(extents.depth / hopper_depth<element>);
    const int parts = parts_of_tiles<square_hopper_tile>(tiles_of(square_hopper_tile{}), steps, processors);
    if constexpr (!is_float8<element>) {  // whose sums take twice the registers
      if (parts == 1 && prefers_wide_tiles(tiles_of(wide_hopper_tile{}), tiles_of(square_hopper_tile{}), processors)) {
        return launch_hopper_product<space, wide_hopper_tile, element>(extents, operands, epilogue, processors);
      }
    }
    launch_hopper_product<space, square_hopper_tile, element>(extents, operands, epilogue, processors, parts);
  }

 private:
  template <class Problem>
  static hopper_operands operands_of(const Problem& problem) {
    return hopper_operands_of<element_of<Problem>>(problem.extents, problem.left(), problem.right());
  }
  template <class Problem>
  static bool has_maps(const hopper_operands& operands) {
    using maps = tile_maps<typename Problem::space>;
    using element = element_of<Problem>;
    constexpr int bytes = stored_bytes<element>;
    return maps::template takes<element>(operands.left.template tensor<square_hopper_tile::rows>(bytes)) &&
           maps::template takes<element>(operands.right.template tensor<square_hopper_tile::columns>(bytes));
  }
  template <class Problem>
  static int processors_for(const Problem&) {
    using operand = hopper_operand<typename tile_maps<typename Problem::space>::map>;
    return detail::hopper_processors<Problem, element_of<Problem>, square_hopper_tile, operand>();
  }
};

}  // namespace on_device

}  // namespace tenon
