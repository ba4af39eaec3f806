// tenon/contraction/tile.hpp: how the results of a product are shared among blocks and warps.
// A policy is a type, so that a kernel is compiled for its sizes; few of them serve all extents.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/primitives.hpp>
#include <tenon/expr/program.hpp>

namespace tenon {

/// A block computes Rows x Columns results, each of its warps WarpRows x WarpColumns of them; `Depth` products a step
/// pass through shared memory, which holds the operands of `Stages` steps. `Blocks` blocks
/// share a multiprocessor, so that one multiplies while another waits.
template <int Rows, int Columns, int Depth, int WarpRows, int WarpColumns, int Stages, int Blocks = 2>
struct tile_policy {
  static_assert(Rows % WarpRows == 0 && Columns % WarpColumns == 0, "tenon: warps share the tile of a block evenly");
  static_assert(Stages >= 2, "tenon: a stage is filled while another is multiplied");
  static constexpr int rows = Rows, columns = Columns, depth = Depth, stages = Stages, blocks = Blocks;
  static constexpr int warp_rows = WarpRows, warp_columns = WarpColumns;
  static constexpr int warps_across = Columns / WarpColumns, warps = Rows / WarpRows * warps_across;
  static constexpr int threads = warps * warp_size;

  TENON_HOST_DEVICE static constexpr int row_of_warp(int warp) { return warp / warps_across * WarpRows; }
  TENON_HOST_DEVICE static constexpr int column_of_warp(int warp) { return warp % warps_across * WarpColumns; }
};

/// How an operand's tile lies in shared memory. Its lines are the rows of a left operand, the columns of a right one;
/// a run of elements side by side is a line along the depth, or all lines at one depth.
enum class tile_layout { along_depth, along_lines };

inline constexpr int chunk_bytes = 16;  // what moves in one access

/// Elements of T in one access.
template <class T>
inline constexpr int chunk_size = chunk_bytes / static_cast<int>(sizeof(T));

/// The tiles in which threads accumulate numbers of type T: large ones, and smaller ones where those would leave parts
/// of a device idle. Two blocks of the largest would spill registers.
template <class T>
struct lane_tiles {
  static constexpr bool is_wide = sizeof(T) > 4;
  using large_tile =
      std::conditional_t<is_wide, tile_policy<64, 64, 8, 32, 32, 4>, tile_policy<128, 128, 16, 64, 32, 3, 1>>;
  using small_tile = std::conditional_t<is_wide, tile_policy<32, 32, 8, 16, 16, 4>, tile_policy<64, 64, 8, 32, 32, 4>>;
};

/// The tiles in which matrix units multiply operands of type T.
template <class T>
struct product_tiles;
template <>
struct product_tiles<half> {
  using large_tile = tile_policy<128, 128, 32, 64, 32, 3>;
  using small_tile = tile_policy<64, 64, 32, 32, 32, 4>;
};
template <>
struct product_tiles<bfloat16> : product_tiles<half> {};
template <>
struct product_tiles<std::int8_t> {
  using large_tile = tile_policy<128, 128, 64, 64, 64, 3>;
  using small_tile = tile_policy<64, 64, 64, 32, 32, 4>;
};
template <>
struct product_tiles<tf32> {
  using large_tile = tile_policy<128, 128, 16, 64, 64, 3>;
  using small_tile = tile_policy<64, 64, 16, 32, 32, 4>;
};
template <>
struct product_tiles<double> {
  using large_tile = tile_policy<64, 64, 16, 32, 32, 3>;
  using small_tile = tile_policy<32, 32, 16, 16, 16, 4>;
};

}  // namespace tenon
