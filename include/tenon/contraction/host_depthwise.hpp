// tenon/contraction/host_depthwise.hpp: convolutions of single channels with 3 x 3 windows.
// Each element is read once for each column of taps and added to three rows of windows; nothing is laid out first.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/host_blocks.hpp>
#include <tenon/device/threads.hpp>

namespace tenon {

namespace detail {

/// Whether patches are those of images of T in memory.
template <class T, class Matrix>
inline constexpr bool sees_memory = false;
template <class T, int GroupAxis>
inline constexpr bool sees_memory<T, patch_matrix<strided_source<T, 5>, 2, GroupAxis>> = true;

/// An image of one channel, and the zeros before its rows and columns.
template <class T>
struct image_plane {
  const T* data;
  index row_step, rows, columns, row_padding, column_padding;
};

/// Sums of 3 x 3 windows for `rows` rows of `columns` windows from `first_row` on, side by side from `to` on.
template <class T>
void sum_windows(image_plane<T> image, array<T, 9> weight, index first_row, index rows, index columns, T* to) {
  constexpr int lanes = simd::native_width<T>, taps = 3;
  using pack = simd::pack<T, lanes>;
  for (index column = 0; column < columns; column += lanes) {
    const index begin = column - image.column_padding;
    const simd::inside_lanes<T, lanes> inside[taps] = {
        {begin, image.columns}, {begin + 1, image.columns}, {begin + 2, image.columns}};
    pack first{}, second{}, third{};  // sums of the row of windows that a line begins, and of the two before
    for (index line = 0; line < rows + taps - 1; ++line) {
      const index place = first_row + line - image.row_padding;
      pack seen[taps] = {};
      if (place >= 0 && place < image.rows) {
        const T* const row = image.data + place * image.row_step;
        __builtin_prefetch(row + column + elements_ahead<T>);
        TENON_UNROLL(3)
        for (int tap = 0; tap < taps; ++tap) {
          seen[tap] = inside[tap].load(row);
        }
      }
      third = second, second = first, first = pack{};
      TENON_UNROLL(3)
      for (int tap = 0; tap < taps; ++tap) {
        first += weight[tap] * seen[tap];
        second += weight[taps + tap] * seen[tap];
        third += weight[2 * taps + tap] * seen[tap];
      }
      if (line >= taps - 1) {
        simd::store_part<lanes>(to + (line - taps + 1) * columns + column, third, columns - column);
      }
    }
  }
}

}  // namespace detail

/// A product with the patches of single channels in memory.
template <class T, class Left, class Patches, class Epilogue>
struct depthwise_product {
  Left left;
  Patches patches;
  Epilogue epilogue;

  /// False where there are several channels, or windows of another kind than 3 x 3 side by side.
  bool run(index rows, index columns, index depth) const {
    if constexpr (detail::sees_memory<T, Patches>) {
      const auto& geometry = patches.geometry;
      const bool adjacent = geometry.stride == ones && geometry.dilation == ones && geometry.image_step == ones;
      if (depth != 9 || geometry.taps() != 9 || geometry.kernel[0] != 3 || !adjacent) return false;
      if (patches.program.stride[4] != 1) return false;
      parallel_for(rows * (columns / geometry.windows()), 1 + 65536 / geometry.windows(), [&](index first, index last) {
        for (index item = first; item < last; ++item) run_plane(item % rows, item / rows);
      });
      return true;
    }
    return false;
  }

 private:
  static constexpr array<index, 2> ones{{1, 1}};

  void run_plane(index row, index number) const {
    const auto& geometry = patches.geometry;
    const detail::image_plane<T> image{patches.program.at({{patches.group, number, 0, 0, 0}}).data,
                                       patches.program.stride[3],
                                       geometry.image[0],
                                       geometry.image[1],
                                       geometry.padding[0],
                                       geometry.padding[1]};
    array<T, 9> weight;
    for (index tap = 0; tap < 9; ++tap) weight[tap] = static_cast<T>(left.value(row, tap));
    const index width = geometry.output[1], together = width > most_columns ? 1 : most_columns / width;
    T* results = detail::product_workspace<T, 8>(together * width);
    for (index first = 0; first < geometry.output[0]; first += together) {
      const index count = detail::least(together, geometry.output[0] - first);
      detail::sum_windows(image, weight, first, count, width, results);
      epilogue.store_tile(row, (number * geometry.output[0] + first) * width, {{1, count * width}}, results, 0);
    }
  }

  static constexpr index most_columns = 2048;
};

}  // namespace tenon
