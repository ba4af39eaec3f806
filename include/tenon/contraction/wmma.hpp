// tenon/contraction/wmma.hpp: the tiled product of half and bfloat16 on tensor cores.
// Four warps compute a 64 x 64 tile as 16 x 16 fragments in float; operands and results pass through shared memory.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/epilogue.hpp>
#include <tenon/device/launch.hpp>

namespace tenon {

/// C[rows, columns] = epilogue(sum over depth of left * right), a block for each batch and 64 x 64 tile.
template <class Element, int Rank, class Left, class Right, class Epilogue>
struct wmma_product_kernel {
  static constexpr const char* name = "wmma_product";
  static constexpr int tile = 64, depth_tile = 32, threads = 128, fragment_size = 16, warp_tile = 32;
  static constexpr int max_threads = threads;
  static constexpr int left_pitch = depth_tile + 8, right_pitch = tile + 8,
                       result_pitch = tile + 4;  // no bank conflicts
  static constexpr int shared_bytes = shared_bytes_of<Element>(tile * left_pitch) +
                                      shared_bytes_of<Element>(depth_tile * right_pitch) +
                                      shared_bytes_of<float>(tile * result_pitch);

  product_extents<Rank> extents;
  Left left;
  Right right;
  Epilogue epilogue;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    auto left_tile = device.template shared<Element>(tile * left_pitch);          // (row, k)
    auto right_tile = device.template shared<Element>(depth_tile * right_pitch);  // (k, column)
    auto results = device.template shared<float>(tile * result_pitch);            // (row, column)
    const index first_row = static_cast<index>(device.block().y) * tile;
    const index first_column = static_cast<index>(device.block().x) * tile;
    const auto batch = extents.batch_position(device.block().z);
    warp_accumulators<Device> sums;
    sums.clear(device);
    for (index k = 0; k < extents.depth; k += depth_tile) {
      load_left(device, left_tile, left.at_batch(batch), first_row, k);
      load_right(device, right_tile, right.at_batch(batch), k, first_column);
      device.sync();
      sums.multiply_add(device, left_tile, right_tile);
      device.sync();
    }
    sums.store(device, results);
    device.sync();
    finish(device, results, epilogue.at_batch(batch), first_row, first_column);
  }

 private:
  /// The 2 x 2 fragments of one warp.
  template <class Device>
  struct warp_accumulators {
    using result_fragment =
        typename Device::template fragment<accumulator, fragment_size, fragment_size, fragment_size, float>;
    using left_fragment =
        typename Device::template fragment<matrix_a, fragment_size, fragment_size, fragment_size, Element, row_major>;
    using right_fragment =
        typename Device::template fragment<matrix_b, fragment_size, fragment_size, fragment_size, Element, row_major>;
    result_fragment sums[2][2];

    TENON_HOST_DEVICE static int row_of(Device& device) { return device.warp() / 2 * warp_tile; }
    TENON_HOST_DEVICE static int column_of(Device& device) { return device.warp() % 2 * warp_tile; }

    TENON_HOST_DEVICE void clear(Device& device) {
      for (auto& row : sums) {
        for (auto& each : row) device.fill(each, 0.0f);
      }
    }
    template <class Tile>
    TENON_HOST_DEVICE void multiply_add(Device& device, const Tile& left_tile, const Tile& right_tile) {
      for (int k = 0; k < depth_tile; k += fragment_size) {
        left_fragment a[2];
        right_fragment b[2];
        for (int i = 0; i < 2; ++i) {
          const int row = row_of(device) + fragment_size * i, column = column_of(device) + fragment_size * i;
          device.load_fragment(a[i], left_tile, row * left_pitch + k, left_pitch);
          device.load_fragment(b[i], right_tile, k * right_pitch + column, right_pitch);
        }
        for (int i = 0; i < 2; ++i) {
          for (int j = 0; j < 2; ++j) device.multiply_add(sums[i][j], a[i], b[j]);
        }
      }
    }
    template <class Tile>
    TENON_HOST_DEVICE void store(Device& device, const Tile& results) {
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
          const int row = row_of(device) + fragment_size * i, column = column_of(device) + fragment_size * j;
          device.store_fragment(results, row * result_pitch + column, sums[i][j], result_pitch);
        }
      }
    }
  };

  template <class Device, class Tile, class Matrix>
  TENON_HOST_DEVICE void load_left(Device& device, const Tile& to, const Matrix& matrix, index first_row,
                                   index k) const {
    for (int i = device.thread(); i < tile * depth_tile; i += threads) {
      const index row = first_row + i / depth_tile, column = k + i % depth_tile;
      const bool inside = row < extents.rows && column < extents.depth;
      to.store(i / depth_tile * left_pitch + i % depth_tile,
               inside ? Element(matrix.value(row, column)) : Element(0.0f));
    }
  }
  template <class Device, class Tile, class Matrix>
  TENON_HOST_DEVICE void load_right(Device& device, const Tile& to, const Matrix& matrix, index k, index first) const {
    for (int i = device.thread(); i < tile * depth_tile; i += threads) {
      const index row = k + i / tile, column = first + i % tile;
      const bool inside = row < extents.depth && column < extents.columns;
      to.store(i / tile * right_pitch + i % tile, inside ? Element(matrix.value(row, column)) : Element(0.0f));
    }
  }
  template <class Device, class Tile>
  TENON_HOST_DEVICE void finish(Device& device, const Tile& results, const Epilogue& finishing, index first_row,
                                index first_column) const {
    for (int i = device.thread(); i < tile * tile; i += threads) {
      const index row = first_row + i / tile, column = first_column + i % tile;
      if (row < extents.rows && column < extents.columns) {
        finishing.store(row, column, results.load(i / tile * result_pitch + i % tile));
      }
    }
  }
};

}  // namespace tenon
