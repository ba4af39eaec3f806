// tenon/contraction/register_tiles.hpp: products whose results a warp keeps in registers as operands of the next.
// Attention and its gradients are made of them: what lines of two operands give are weights of lines of a third.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/mma.hpp>

namespace tenon {

/// A block's tile of `Rows` lines, `WarpRows` a warp, which meets tiles of `Columns` lines. All lines have up to
/// `Width` elements of 16 bits, side by side.
template <class Element, int Width, int Rows, int Columns, int WarpRows>
struct register_tiles {
  static constexpr int rows = Rows, columns = Columns, warp_rows = WarpRows, threads = Rows / WarpRows * warp_size;
  static constexpr int groups = WarpRows / lane_product_rows, lane_rows = 2 * groups;
  static constexpr int column_blocks = Columns / lane_product_columns, width_blocks = Width / lane_product_columns;
  using row_placement = swizzled_placement<Element, Rows, Width>;
  using column_placement = swizzled_placement<Element, Columns, Width>;
  using across_placement = swizzled_placement<Element, Width, Columns>;  // the same places, lines taken for the depth
  /// Of a warp's lines with each of the columns, and with each element of a line.
  using line_sums = array<array<lane_sums<Element>, column_blocks>, groups>;
  using width_sums = array<array<lane_sums<Element>, width_blocks>, groups>;

  /// The row of the tile that a lane's row `number`, 0 to `lane_rows`, is.
  template <class Device>
  TENON_HOST_DEVICE static int row_of(Device& device, int number) {
    return device.warp() * warp_rows + number / 2 * lane_product_rows + lane_sum_row(device.lane(), number % 2 * 2);
  }
  /// The column of slot 0 of a block.
  template <class Device>
  TENON_HOST_DEVICE static int column_of(Device& device, int block) {
    return block * lane_product_columns + lane_sum_column(device.lane(), 0);
  }

  /// Adds the products of the warp's lines with all columns.
  template <class Device, class Tile>
  TENON_HOST_DEVICE static void multiply_lines(Device& device, const Tile& row_tile, const Tile& column_tile,
                                               line_sums& sums) {
    using row_loader = detail::line_group_loader<Element, row_placement, matrix_a, tile_layout::along_depth>;
    using column_loader = detail::line_group_loader<Element, column_placement, matrix_b, tile_layout::along_depth>;
    TENON_UNROLLED
    for (int step = 0; step < Width / depth_of_step; ++step) {
      lane_words<4> left[groups];
      TENON_UNROLLED
      for (int i = 0; i < groups; ++i) {
        left[i] = row_loader::load(device, row_tile, device.warp() * warp_rows + i * lane_product_rows, step);
      }
      TENON_UNROLLED
      for (int j = 0; j < column_blocks; j += 2) {
        multiply_pair(device, left, column_loader::load(device, column_tile, j * lane_product_columns, step), sums, j);
      }
    }
  }
  /// Adds the columns' lines, weighted for each of the warp's lines.
  template <class Device, class Tile>
  TENON_HOST_DEVICE static void multiply_weights(Device& device, const line_sums& weights, const Tile& column_tile,
                                                 width_sums& sums) {
    using loader = detail::line_group_loader<Element, across_placement, matrix_b, tile_layout::along_lines>;
    TENON_UNROLLED
    for (int step = 0; step < Columns / depth_of_step; ++step) {
      lane_words<4> left[groups];
      TENON_UNROLLED
      for (int i = 0; i < groups; ++i) {
        TENON_UNROLLED
        for (int k = 0; k < 4; ++k) {
          const auto& block = weights[i][2 * step + k / 2];
          left[i][k] = device.template pack_pair<Element>(block[k % 2 * 2], block[k % 2 * 2 + 1]);
        }
      }
      TENON_UNROLLED
      for (int j = 0; j < width_blocks; j += 2) {
        multiply_pair(device, left, loader::load(device, column_tile, j * lane_product_columns, step), sums, j);
      }
    }
  }
  /// Calls `visitor(sum, row, column)` for each of a lane's sums.
  template <class Device, class Visitor>
  TENON_HOST_DEVICE static void visit(Device& device, line_sums& sums, const Visitor& visitor) {
    TENON_UNROLLED
    for (int i = 0; i < groups; ++i) {
      TENON_UNROLLED
      for (int j = 0; j < column_blocks; ++j) {
        TENON_UNROLLED
        for (int k = 0; k < 4; ++k) visitor(sums[i][j][k], row_of(device, 2 * i + k / 2), column_of(device, j) + k % 2);
      }
    }
  }

 private:
  static constexpr int depth_of_step = lane_product_depth<Element>;

  /// Adds products with two blocks of columns.
  template <class Device, class Sums>
  TENON_HOST_DEVICE static void multiply_pair(Device& device, const lane_words<4> (&left)[groups],
                                              const lane_words<4>& right, Sums& sums, int block) {
    TENON_UNROLLED
    for (int i = 0; i < groups; ++i) {
      device.template multiply_blocks<Element>(sums[i][block], left[i], {{right[0], right[1]}});
      device.template multiply_blocks<Element>(sums[i][block + 1], left[i], {{right[2], right[3]}});
    }
  }
};

}  // namespace tenon
