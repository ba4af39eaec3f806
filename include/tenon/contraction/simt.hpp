// tenon/contraction/simt.hpp: the tiled product of full-precision elements, one thread per 4 x 4 results.
// Tiles of both operands pass through shared memory; operands are any matrices, so prologues and patches fuse here.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/epilogue.hpp>
#include <tenon/device/launch.hpp>

namespace tenon {

/// C[rows, columns] = epilogue(sum over depth of left * right), a block for each batch and 64 x 64 tile.
template <class Accumulator, int Rank, class Left, class Right, class Epilogue>
struct simt_product_kernel {
  static constexpr const char* name = "simt_product";
  static constexpr int tile = 64, depth_tile = 16, per_thread = 4, threads = 256;
  static constexpr int shared_bytes = 2 * tile * depth_tile * static_cast<int>(sizeof(Accumulator));

  product_extents<Rank> extents;
  Left left;
  Right right;
  Epilogue epilogue;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    auto left_tile = device.template shared<Accumulator>(tile * depth_tile);   // (k, row)
    auto right_tile = device.template shared<Accumulator>(tile * depth_tile);  // (k, column)
    const index first_row = static_cast<index>(device.block().y) * tile;
    const index first_column = static_cast<index>(device.block().x) * tile;
    const auto batch = extents.batch_position(device.block().z);
    const auto a = left.at_batch(batch);
    const auto b = right.at_batch(batch);
    Accumulator sums[per_thread][per_thread] = {};
    for (index k = 0; k < extents.depth; k += depth_tile) {
      for (int i = device.thread(); i < tile * depth_tile; i += threads) {
        left_tile.store(i, element(a, first_row + i % tile, extents.rows, k + i / tile, extents.depth));
        right_tile.store(i, element(b, k + i / tile, extents.depth, first_column + i % tile, extents.columns));
      }
      device.sync();
      accumulate(device, left_tile, right_tile, sums);
      device.sync();
    }
    store(device, epilogue.at_batch(batch), first_row, first_column, sums);
  }

 private:
  template <class Matrix>
  TENON_HOST_DEVICE static Accumulator element(const Matrix& matrix, index row, index row_count, index column,
                                               index column_count) {
    const bool inside = row < row_count && column < column_count;
    return inside ? static_cast<Accumulator>(matrix.value(row, column)) : Accumulator(0);
  }
  template <class Device, class Tile>
  TENON_HOST_DEVICE static void accumulate(Device& device, const Tile& left_tile, const Tile& right_tile,
                                           Accumulator (&sums)[per_thread][per_thread]) {
    const int row = device.thread() / 16, column = device.thread() % 16;
    for (int k = 0; k < depth_tile; ++k) {
      Accumulator a[per_thread], b[per_thread];
      for (int i = 0; i < per_thread; ++i) {
        a[i] = left_tile.load(k * tile + row + 16 * i);
        b[i] = right_tile.load(k * tile + column + 16 * i);
      }
      for (int i = 0; i < per_thread; ++i) {
        for (int j = 0; j < per_thread; ++j) sums[i][j] += a[i] * b[j];
      }
    }
  }
  template <class Device>
  TENON_HOST_DEVICE void store(Device& device, const Epilogue& finish, index first_row, index first_column,
                               const Accumulator (&sums)[per_thread][per_thread]) const {
    const index row = first_row + device.thread() / 16, column = first_column + device.thread() % 16;
    for (int i = 0; i < per_thread; ++i) {
      for (int j = 0; j < per_thread; ++j) {
        const index y = row + 16 * i, x = column + 16 * j;
        if (y < extents.rows && x < extents.columns) finish.store(y, x, sums[i][j]);
      }
    }
  }
};

}  // namespace tenon
