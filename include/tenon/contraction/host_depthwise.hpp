// tenon/contraction/host_depthwise.hpp: convolutions of single channels with 3 x 3 windows, and their weight gradients.
// Each element is read once for each column of taps and meets three rows of windows; nothing is laid out first.
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

/// What the three columns of taps see of the lines of an image: a pack of windows from `column` on, of `columns`.
template <class T>
class tap_columns {
 public:
  static constexpr int lanes = simd::native_width<T>, taps = 3;
  using pack = simd::pack<T, lanes>;

  TENON_INLINE tap_columns(const image_plane<T>& image, index column, index columns)
      : image_(image),
        column_(column),
        inside_{tap(0, columns), tap(1, columns), tap(2, columns)},
        windows_(column, columns) {}
  /// Line `place`; zeros where there is none, and in lanes without a window.
  TENON_INLINE void see(index place, pack (&seen)[taps]) const {
    if (place < 0 || place >= image_.rows) {
      TENON_UNROLL(3)
      for (int i = 0; i < taps; ++i) seen[i] = pack{};
      return;
    }
    const T* const row = image_.data + place * image_.row_step;
    __builtin_prefetch(row + column_ + elements_ahead<T>);
    TENON_UNROLL(3)
    for (int i = 0; i < taps; ++i) seen[i] = inside_[i].load(row);
  }
  /// The gradients of these windows, of all of a row; zeros in lanes without a window.
  TENON_INLINE pack gradients(const T* row) const { return windows_.load(row); }

 private:
  using inside = simd::inside_lanes<T, lanes>;
  TENON_INLINE inside tap(index number, index columns) const {
    const index before = number - image_.column_padding;
    return {column_ + before, least(image_.columns, columns + before)};
  }

  const image_plane<T>& image_;
  index column_;
  inside inside_[taps], windows_;
};

/// Sums of 3 x 3 windows for `rows` rows of `columns` windows from `first_row` on, side by side from `to` on.
template <class T>
void sum_windows(image_plane<T> image, array<T, 9> weight, index first_row, index rows, index columns, T* to) {
  using line_taps = tap_columns<T>;
  using pack = typename line_taps::pack;
  constexpr int lanes = line_taps::lanes, taps = line_taps::taps;
  for (index column = 0; column < columns; column += lanes) {
    const line_taps at(image, column, columns);
    pack first{}, second{}, third{};  // sums of the row of windows that a line begins, and of the two before
    for (index line = 0; line < rows + taps - 1; ++line) {
      pack seen[taps];
      at.see(first_row + line - image.row_padding, seen);
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

/// Adds to each tap's `sums` what it sees in the windows of an image times their gradients, which lie side by side.
template <class T>
void add_window_gradients(image_plane<T> image, const T* gradients, index rows, index columns,
                          typename tap_columns<T>::pack (&sums)[9]) {
  using line_taps = tap_columns<T>;
  using pack = typename line_taps::pack;
  constexpr int lanes = line_taps::lanes, taps = line_taps::taps;
  for (index column = 0; column < columns; column += lanes) {
    const line_taps at(image, column, columns);
    pack first{}, second{}, third{};  // gradients of the row of windows that a line begins, and of the two before
    pack kept[9];
    TENON_UNROLL(9)
    for (int i = 0; i < 9; ++i) kept[i] = sums[i];
    for (index line = 0; line < rows + taps - 1; ++line) {
      third = second, second = first, first = pack{};
      if (line < rows) first = at.gradients(gradients + line * columns);
      pack seen[taps];
      at.see(line - image.row_padding, seen);
      TENON_UNROLL(3)
      for (int tap = 0; tap < taps; ++tap) {
        kept[tap] += first * seen[tap];
        kept[taps + tap] += second * seen[tap];
        kept[2 * taps + tap] += third * seen[tap];
      }
    }
    TENON_UNROLL(9)
    for (int i = 0; i < 9; ++i) sums[i] = kept[i];
  }
}

/// Whether windows are 3 x 3 neighbours, side by side.
template <int Rank>
bool are_neighbours(const patch_geometry<Rank>& geometry) {
  if constexpr (Rank == 2) {
    constexpr array<index, 2> ones{{1, 1}}, threes{{3, 3}};
    return geometry.kernel == threes && geometry.stride == ones && geometry.dilation == ones &&
           geometry.image_step == ones;
  }
  return false;
}

/// A channel of an image in memory.
template <class T, class Patches>
image_plane<T> plane_of(const Patches& patches, index number, index channel) {
  const auto& geometry = patches.geometry;
  return {patches.program.at({{patches.group, number, channel, 0, 0}}).data,
          patches.program.stride[3],
          geometry.image[0],
          geometry.image[1],
          geometry.padding[0],
          geometry.padding[1]};
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
      if (depth != 9 || !detail::are_neighbours(geometry) || patches.program.stride[4] != 1) return false;
      T* const weights = detail::product_workspace<T, 2>(rows * 9);  // finding a weight is slower than a window
      for (index i = 0; i < rows * 9; ++i) weights[i] = static_cast<T>(left.value(i / 9, i % 9));
      parallel_for(rows * (columns / geometry.windows()), 1 + 65536 / geometry.windows(), [&](index first, index last) {
        for (index item = first; item < last; ++item) run_plane(weights + item % rows * 9, item % rows, item / rows);
      });
      return true;
    }
    return false;
  }

 private:
  void run_plane(const T* weights, index row, index number) const {
    const auto& geometry = patches.geometry;
    array<T, 9> weight;
    std::copy_n(weights, 9, weight.begin());
    const auto image = detail::plane_of<T>(patches, number, 0);
    constexpr index unit = detail::rows_together<Epilogue>;
    const index width = geometry.output[1], rows = geometry.output[0] / unit * unit;
    const index together = detail::round_up(width > most_columns ? 1 : most_columns / width, unit);
    T* results = detail::product_workspace<T, 8>(together * width);
    for (index first = 0; first < rows; first += together) {
      const index count = detail::least(together, rows - first);
      detail::sum_windows(image, weight, first, count, width, results);
      epilogue.store_tile(row, (number * geometry.output[0] + first) * width, {{1, count * width}}, results, 0);
    }
  }

  static constexpr index most_columns = 2048;
};

/// The product of the gradients of a few results and the transposed patches of images in memory.
template <class T, class Left, class Patches, class Epilogue>
struct depthwise_weight_gradient {
  Left left;
  Patches patches;
  Epilogue epilogue;

  /// False where there are more results, whose gradients make vectors, windows of another kind than 3 x 3 side by side,
  /// or gradients of an image that do not lie side by side.
  bool run(index rows, index columns, index depth) const {
    if constexpr (detail::sees_memory<T, Patches> && std::is_same_v<memory_element_of<Left>, T>) {
      const auto& geometry = patches.geometry;
      const index windows = geometry.windows();
      if (rows > most_rows || !detail::are_neighbours(geometry) || patches.program.stride[4] != 1) return false;
      constexpr auto axes = Left::axes_type::columns;
      if (depth == 0 || left.program.stride[axes[axes.size() - 1]] != 1 || left.run_from(0) < windows) return false;
      const index channels = columns / 9, images = depth / windows;
      parallel_for(rows * channels, 1 + (index{1} << 16) / depth, [&](index first, index last) {
        for (index item = first; item < last; ++item) run_channel(item / channels, item % channels, images);
      });
      return true;
    }
    return false;
  }

 private:
  static constexpr index most_rows = 4;

  void run_channel(index row, index channel, index images) const {
    const auto& geometry = patches.geometry;
    typename detail::tap_columns<T>::pack sums[9] = {};
    for (index number = 0; number < images; ++number) {
      const T* const gradients = left.program.at(left.position(row, number * geometry.windows())).data;
      detail::add_window_gradients(detail::plane_of<T>(patches, number, channel), gradients, geometry.output[0],
                                   geometry.output[1], sums);
    }
    T results[9];
    for (int tap = 0; tap < 9; ++tap) {
      results[tap] = simd::reduce(sums[tap], [](auto x, auto y) { return x + y; });
    }
    epilogue.store_tile(row, channel * 9, {{1, 9}}, results, 9);
  }
};

}  // namespace tenon
