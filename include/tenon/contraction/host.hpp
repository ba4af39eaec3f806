// tenon/contraction/host.hpp: the matrix product of the host.
// Packed panels, a tile of the result in registers, and the epilogue applied while a finished tile is in cache.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/pack.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/device/threads.hpp>
#include <vector>

namespace tenon {

/// The register tile: `Height` rows of two vectors, chosen so that accumulators, operands and a broadcast fit the
/// registers.
template <class T>
struct host_tile {
  static constexpr int lanes = simd::native_width<T>;
  static constexpr int width = 2 * lanes;
  static constexpr int height = simd::detail::vector_bytes == 64 ? 12 : simd::detail::vector_bytes == 32 ? 6 : 4;
};

namespace detail {

inline constexpr index product_depth = 320;  // most k of a block: a panel of the right operand stays in the first cache
inline constexpr index product_rows = 480;   // rows of a block, a multiple of every tile height
inline constexpr index product_columns = 256;  // columns of a block: the packed block stays in the second cache

/// tile += left panel * right panel over `depth` values of k.
template <class T>
TENON_INLINE void multiply_panels(const T* left, const T* right, index depth, T* tile, index pitch) {
  using shape = host_tile<T>;
  using pack = simd::pack<T, shape::lanes>;
  pack sums[shape::height][2];
  for (int i = 0; i < shape::height; ++i) {
    sums[i][0] = simd::load<T, shape::lanes>(tile + i * pitch);
    sums[i][1] = simd::load<T, shape::lanes>(tile + i * pitch + shape::lanes);
  }
  for (index k = 0; k < depth; ++k, left += shape::height, right += shape::width) {
    const pack first = simd::load<T, shape::lanes>(right), second = simd::load<T, shape::lanes>(right + shape::lanes);
    for (int i = 0; i < shape::height; ++i) {
      sums[i][0] += left[i] * first;
      sums[i][1] += left[i] * second;
    }
  }
  for (int i = 0; i < shape::height; ++i) {
    simd::store<shape::lanes>(tile + i * pitch, sums[i][0]);
    simd::store<shape::lanes>(tile + i * pitch + shape::lanes, sums[i][1]);
  }
}

constexpr index round_up(index count, index unit) { return (count + unit - 1) / unit * unit; }
constexpr index least(index left, index right) { return left < right ? left : right; }

/// k of a block: as few blocks as may be, as equal as may be.
constexpr index block_depth(index depth) {
  const index blocks = (depth + product_depth - 1) / product_depth;
  return blocks == 0 ? 1 : (depth + blocks - 1) / blocks;
}

/// A block that a thread keeps for its products; it only grows.
template <class T, int Purpose>
T* product_workspace(index count) {
  static thread_local std::vector<T> memory;
  if (static_cast<index>(memory.size()) < count) memory.resize(static_cast<std::size_t>(count));
  return memory.data();
}

/// One product: extents, the packed left operand, the right operand and what is done with the results.
template <class T, int Rank, class Right, class Epilogue>
struct host_product {
  using tile = host_tile<T>;
  product_extents<Rank> extents;
  const T* left;  // panels of all rows for the first block of k, then for the second, and so on
  Right right;
  Epilogue epilogue;

  /// Rows from `row` and columns from `column` on: all of k, block by block, in order.
  void run_block(index row, index column) const {
    const index rows = least(product_rows, extents.rows - row),
                columns = least(product_columns, extents.columns - column);
    const index pitch = round_up(columns, tile::width), padded_rows = round_up(rows, tile::height);
    T* sums = product_workspace<T, 0>(padded_rows * pitch);
    T* panels = product_workspace<T, 1>(product_depth * pitch);
    const index step = block_depth(extents.depth);
    for (index i = 0; i < padded_rows * pitch; ++i) sums[i] = T(0);
    for (index k = 0; k < extents.depth; k += step) {
      const index depth = least(step, extents.depth - k);
      for (index j = 0; j < columns; j += tile::width) {
        pack_right<tile::width>(right, {k, depth, column + j, least(tile::width, columns - j)}, panels + j * depth);
      }
      const T* left_block = left + k * round_up(extents.rows, tile::height) + row * depth;
      for (index j = 0; j < columns; j += tile::width) {
        for (index i = 0; i < rows; i += tile::height) {
          multiply_panels(left_block + i * depth, panels + j * depth, depth, sums + i * pitch + j, pitch);
        }
      }
    }
    for (index i = 0; i < rows; ++i) epilogue.store_run(row + i, column, columns, sums + i * pitch);
  }
};

template <class T, class Left, int Rank>
const T* pack_all_left(const Left& left, const product_extents<Rank>& extents) {
  constexpr int height = host_tile<T>::height;
  const index padded_rows = round_up(extents.rows, height), row_panels = padded_rows / height;
  const index step = block_depth(extents.depth), blocks = (extents.depth + step - 1) / step;
  T* packed = product_workspace<T, 2>(padded_rows * extents.depth);
  parallel_for(row_panels * blocks, 1 + 16384 / (height * step), [&](index first, index last) {
    for (index item = first; item < last; ++item) {
      const index k = item / row_panels * step, row = item % row_panels * height;
      const index depth = least(step, extents.depth - k);
      pack_left<height>(left, {row, least(height, extents.rows - row), k, depth},
                        packed + k * padded_rows + row * depth);
    }
  });
  return packed;
}

/// Float and double: tiles in registers.
template <class T, int Rank, class Left, class Right, class Epilogue>
void multiply_tiled(const product_extents<Rank>& extents, const Left& left, const Right& right,
                    const Epilogue& epilogue) {
  const host_product<T, Rank, Right, Epilogue> product{extents, pack_all_left<T>(left, extents), right, epilogue};
  const index row_blocks = (extents.rows + product_rows - 1) / product_rows;
  const index column_blocks = (extents.columns + product_columns - 1) / product_columns;
  const index work = extents.depth * least(extents.rows, product_rows) * least(extents.columns, product_columns);
  parallel_for(row_blocks * column_blocks, 1 + 65536 / (work + 1), [&](index first, index last) {
    for (index item = first; item < last; ++item) {
      product.run_block(item % row_blocks * product_rows, item / row_blocks * product_columns);
    }
  });
}

/// Integers: one result at a time, exact.
template <class T, int Rank, class Left, class Right, class Epilogue>
void multiply_plainly(const product_extents<Rank>& extents, const Left& left, const Right& right,
                      const Epilogue& epilogue) {
  const index work = extents.depth * extents.columns;
  parallel_for(extents.rows, 1 + 16384 / (work + 1), [&](index first, index last) {
    for (index row = first; row < last; ++row) {
      for (index column = 0; column < extents.columns; ++column) {
        T sum_of_products = T(0);
        for (index k = 0; k < extents.depth; ++k) {
          sum_of_products += static_cast<T>(left.value(row, k)) * static_cast<T>(right.value(k, column));
        }
        epilogue.store(row, column, sum_of_products);
      }
    }
  });
}

}  // namespace detail

/// Evaluates a statement of the form `contract` into `target`. The order of additions depends on the extents alone, so
/// every number of threads gives the same bits.
template <class Target, class E>
void run_contraction_host(const Target& target, const E& node) {
  const auto& product = contraction_of(node);
  using product_type = std::remove_cvref_t<decltype(product)>;
  using accumulates = typename product_type::accumulator;
  const auto extents = extents_of_product(product);
  const auto left = left_matrix(product);
  const auto right = right_matrix(product);
  const auto epilogue = make_epilogue<product_type>(target, node);
  count_launch("contract");
  for (index batch = 0; batch < extents.batch_count(); ++batch) {
    const auto position = extents.batch_position(batch);
    const auto run = [&](auto product_of) {
      product_of(extents, left.at_batch(position), right.at_batch(position), epilogue.at_batch(position));
    };
    if constexpr (std::is_floating_point_v<accumulates>) {
      run([](const auto&... part) { detail::multiply_tiled<accumulates>(part...); });
    } else {
      run([](const auto&... part) { detail::multiply_plainly<accumulates>(part...); });
    }
  }
}

}  // namespace tenon
