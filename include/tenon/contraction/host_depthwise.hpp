// tenon/contraction/host_depthwise.hpp: convolutions of single channels with 3 x 3 windows, and their weight gradients.
// Each element is read once for each column of taps and meets three rows of windows; nothing is laid out first.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host_blocks.hpp>
#include <tenon/contraction/host_problem.hpp>
#include <tenon/device/simd_reduce.hpp>
#include <tenon/device/threads.hpp>

namespace tenon {

namespace detail {

/// Whether patches are those of images of T in memory.
template <class T, class Matrix, bool Transposed = false>
inline constexpr bool sees_memory = false;
template <class T, int GroupAxis>
inline constexpr bool sees_memory<T, patch_matrix<strided_source<T, 5>, 2, GroupAxis>> = true;
template <class T, class Matrix>
inline constexpr bool sees_memory<T, transposed_matrix<Matrix>, true> = sees_memory<T, Matrix>;

/// An image of one channel, and the zeros before its rows and columns.
template <class T>
struct image_plane {
  const T* data;
  index row_step, rows, columns, row_padding, column_padding;
};

/// What the three columns of taps see of an image's lines, for a pack of windows from `column` on, of `columns` in all.
template <class T>
class tap_columns {
 public:
  static constexpr int lanes = simd::width_for(sizeof(T));
  using pack = simd::pack<T, lanes>;
  /// A line as each column of taps sees it.
  struct line {
    pack left{}, middle{}, right{};
  };

  TENON_INLINE tap_columns(const image_plane<T>& image, index column, index columns)
      : data_(image.data),
        row_step_(image.row_step),
        rows_(image.rows),
        ahead_(column + elements_ahead<T>),
        left_(taps(image, 0, column, columns)),
        middle_(taps(image, 1, column, columns)),
        right_(taps(image, 2, column, columns)),
        windows_(column, columns) {}
  /// Line `place`; zeros where there is none, and in lanes without a window.
  TENON_INLINE line see(index place) const {
    if (place < 0 || place >= rows_) return {};
    const T* const row = data_ + place * row_step_;
    __builtin_prefetch(row + ahead_);
    return {left_.load(row), middle_.load(row), right_.load(row)};
  }
  /// The gradients of these windows, of all of a row; zeros in lanes without a window.
  TENON_INLINE pack gradients(const T* row) const { return windows_.load(row); }

 private:
  using inside = simd::inside_lanes<T, lanes>;
  TENON_INLINE static inside taps(const image_plane<T>& image, index number, index column, index columns) {
    const index before = number - image.column_padding;
    return {column + before, least(image.columns, columns + before)};
  }

  const T* data_;
  index row_step_, rows_, ahead_;
  inside left_, middle_, right_, windows_;
};

/// Sums of 3 x 3 windows for `rows` rows of `columns` windows from `first_row` on, side by side from `to` on. A pack
/// behind them may be written.
template <class T>
void sum_windows(const image_plane<T>& image, const T* weight, index first_row, index rows, index columns, T* to) {
  using line_taps = tap_columns<T>;
  using pack = typename line_taps::pack;
  using line = typename line_taps::line;
  constexpr int lanes = line_taps::lanes;
  const index last = (columns - 1) / lanes * lanes;  // first, as its packs end in what others write later
  for (index column = last; column >= 0; column -= lanes) {
    const line_taps at(image, column, columns);
    const auto taps_of = [&](int row) {
      return line{weight[row * 3] - pack{}, weight[row * 3 + 1] - pack{}, weight[row * 3 + 2] - pack{}};
    };
    const line upper = taps_of(0), middle = taps_of(1), lower = taps_of(2);
    pack first{}, second{}, third{};  // sums of the row of windows that a line begins, and of the two before
    const auto meet = [&](index place) {
      const line seen = at.see(place);
      third = second + lower.left * seen.left + lower.middle * seen.middle + lower.right * seen.right;
      second = first + middle.left * seen.left + middle.middle * seen.middle + middle.right * seen.right;
      first = upper.left * seen.left + upper.middle * seen.middle + upper.right * seen.right;
    };
    index place = first_row - image.row_padding;
    meet(place), meet(place + 1);
    T* row = to + column;
    place += 2;
    for (const index end = place + rows; place < end; ++place, row += columns) {
      meet(place);
      simd::store<lanes>(row, third);
    }
  }
}

/// Adds to each tap's `sums` what it sees in the windows of an image times their gradients, which lie side by side.
template <class T>
void add_window_gradients(const image_plane<T>& image, const T* gradients, index rows, index columns,
                          typename tap_columns<T>::pack (&sums)[9]) {
  using line_taps = tap_columns<T>;
  using pack = typename line_taps::pack;
  for (index column = 0; column < columns; column += line_taps::lanes) {
    const line_taps at(image, column, columns);
    pack first{}, second{}, third{};  // gradients of the row of windows that a line begins, and of the two before
    pack kept[9];
    TENON_UNROLL(9)
    for (int i = 0; i < 9; ++i) kept[i] = sums[i];
    for (index line = 0; line < rows + 2; ++line) {
      third = second, second = first, first = pack{};
      if (line < rows) first = at.gradients(gradients + line * columns);
      const auto seen = at.see(line - image.row_padding);
      kept[0] += first * seen.left, kept[1] += first * seen.middle, kept[2] += first * seen.right;
      kept[3] += second * seen.left, kept[4] += second * seen.middle, kept[5] += second * seen.right;
      kept[6] += third * seen.left, kept[7] += third * seen.middle, kept[8] += third * seen.right;
    }
    TENON_UNROLL(9)
    for (int i = 0; i < 9; ++i) sums[i] = kept[i];
  }
}

/// Whether windows are 3 x 3 neighbours, side by side, of images whose columns are.
template <class Patches>
bool are_neighbours(const Patches& patches) {
  constexpr array<index, 2> ones{{1, 1}}, threes{{3, 3}};
  const auto& geometry = patches.geometry;
  return geometry.kernel == threes && geometry.stride == ones && geometry.dilation == ones &&
         geometry.image_step == ones && patches.program.stride[4] == 1;
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
template <class Products, class Left, class Patches, class Epilogue>
struct depthwise_product {
  using T = typename Products::unit;
  Left left;
  Patches patches;
  Epilogue epilogue;

  void run(index rows, index columns, index) const {
    const auto& geometry = patches.geometry;
    const detail::scratch memory;
    T* const weights = memory.take<T>(rows * 9);  // finding a weight is slower than a window
    for (index i = 0; i < rows * 9; ++i) weights[i] = static_cast<T>(left.value(i / 9, i % 9));
    const index items = rows * (columns / geometry.windows()), grain = 1 + 65536 / geometry.windows();
    const index parts = part_count(items, grain), width = geometry.output[1];
    const index size = detail::conflict_free_pitch<T>(rows_at_once(width) * width + detail::tap_columns<T>::lanes);
    T* const results = memory.take<T>(parts * size);
    parallel_parts(items, grain, parts, [&](index first, index last, index part) {
      for (index item = first; item < last; ++item) {
        run_plane(weights + item % rows * 9, item % rows, item / rows, results + part * size);
      }
    });
  }

 private:
  static constexpr index most_columns = 2048, unit = detail::rows_together<Epilogue>;

  static index rows_at_once(index width) {
    return detail::round_up(width > most_columns ? 1 : most_columns / width, unit);
  }
  void run_plane(const T* weights, index row, index number, T* results) const {
    const auto& geometry = patches.geometry;
    const auto image = detail::plane_of<T>(patches, number, 0);
    const index width = geometry.output[1], rows = geometry.output[0] / unit * unit, together = rows_at_once(width);
    for (index first = 0; first < rows; first += together) {
      const index count = detail::least(together, rows - first);
      detail::sum_windows(image, weights, first, count, width, results);
      epilogue.store_tile(row, (number * geometry.output[0] + first) * width, {{1, count * width}}, results, 0);
    }
  }
};

/// The product of the gradients of a few results and the transposed patches of images in memory.
template <class Products, class Left, class Patches, class Epilogue>
struct depthwise_weight_gradient {
  using T = typename Products::unit;
  Left left;
  Patches patches;
  Epilogue epilogue;

  void run(index rows, index columns, index depth) const {
    const index channels = columns / 9, images = depth / patches.geometry.windows();
    parallel_for(rows * channels, 1 + (index{1} << 16) / depth, [&](index first, index last) {
      for (index item = first; item < last; ++item) run_channel(item / channels, item % channels, images);
    });
  }

 private:
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

namespace on_host {

/// Convolutions of one channel in windows of 3 x 3 side by side.
struct depthwise_windows {
  static constexpr const char* name = "depthwise windows";
  template <class Problem>
  static constexpr bool can_take = detail::sees_memory<typename Problem::unit, typename Problem::right_type>;
  static bool takes(const auto& problem) { return problem.extents.depth == 9 && detail::are_neighbours(problem.right); }
  static void run(const auto& problem) { problem.template run_engine<depthwise_product>(problem.right); }
};

/// Gradients of weights in such windows, where results are few (more of them make vectors) and the gradients of an
/// image lie side by side.
struct depthwise_weight_gradients {
  static constexpr const char* name = "depthwise weight gradients";
  template <class Problem>
  static constexpr bool can_take =
      detail::sees_memory<typename Problem::unit, typename Problem::right_type, true> &&
      std::is_same_v<memory_element_of<typename Problem::left_type>, typename Problem::unit>;
  static bool takes(const auto& problem) {
    const auto& gradients = problem.left;
    const auto& patches = problem.right.matrix;
    constexpr auto axes = std::remove_cvref_t<decltype(gradients)>::axes_type::columns;
    return problem.extents.rows <= 4 && problem.extents.depth != 0 && detail::are_neighbours(patches) &&
           gradients.program.stride[axes[axes.size() - 1]] == 1 && gradients.run_from(0) >= patches.geometry.windows();
  }
  static void run(const auto& problem) { problem.template run_engine<depthwise_weight_gradient>(problem.right.matrix); }
};

}  // namespace on_host

}  // namespace tenon
