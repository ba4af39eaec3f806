// tenon/contraction/host_depthwise.hpp: convolutions of single channels with 3 x 3 windows, and their weight gradients.
// Each element is read once for each column of taps and meets three rows of windows; nothing is laid out first.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <tenon/contraction/host_blocks.hpp>
#include <tenon/contraction/host_problem.hpp>
#include <tenon/device/simd_reduce.hpp>
#include <tenon/device/threads.hpp>
#include <type_traits>

namespace tenon {

namespace detail {

/// Whether patches are those of images of T in memory.
template <class T, class Matrix, bool Transposed = false>
inline constexpr bool sees_memory = false;
template <class T, int GroupAxis>
inline constexpr bool sees_memory<T, patch_matrix<strided_source<T, 5>, 2, GroupAxis>> = true;
template <class T, class Matrix>
inline constexpr bool sees_memory<T, transposed_matrix<Matrix>, true> = sees_memory<T, Matrix>;

/// What the three columns of taps see of lines of an image, for a pack of windows.
template <class T>
struct tap_columns {
  static constexpr int lanes = simd::width_for(sizeof(T));
  using pack = simd::pack<T, lanes>;
  using inside = simd::inside_lanes<T, lanes>;

  /// For windows from `column` on, of `columns` in all, of images as wide as `image_columns` behind `padding` zeros.
  tap_columns(index column, index columns, index image_columns, index padding)
      : left(column - padding, least(image_columns, columns - padding)),
        middle(column - padding + 1, least(image_columns, columns - padding + 1)),
        right(column - padding + 2, least(image_columns, columns - padding + 2)),
        windows(column, columns) {}
  /// Loops keep masks of bits in registers, and read wider ones where they are.
  using kept = std::conditional_t<simd::has_partial_packs, const tap_columns, const tap_columns&>;

  inside left, middle, right, windows;  // zeros where the image has no column, and in lanes without a window
};

/// Windows of 3 x 3 neighbours in images of one channel. All images of a product share them.
template <class T>
class neighbour_windows {
 public:
  static constexpr int lanes = tap_columns<T>::lanes;
  using pack = typename tap_columns<T>::pack;

  template <class Patches>
  neighbour_windows(const Patches& patches, const scratch& memory)
      : row_step_(patches.program.stride[3]),
        lines_(patches.geometry.image[0]),
        padding_(patches.geometry.padding[0]),
        columns_(patches.geometry.output[1]),
        packs_((columns_ + lanes - 1) / lanes),
        ahead_(round_up(elements_ahead<T>, columns_)) {
    const index image_columns = patches.geometry.image[1], padding = patches.geometry.padding[1];
    auto* const taps = memory.take<tap_columns<T>>(packs_);
    for (index i = 0; i < packs_; ++i) new (taps + i) tap_columns<T>(i * lanes, columns_, image_columns, padding);
    auto* const zeros = memory.take<T>(image_columns);
    for (index i = 0; i < image_columns; ++i) zeros[i] = T(0);
    taps_ = taps, zeros_ = zeros;
  }
  /// Sums of `rows` rows of windows from `first_row` on, side by side from `to` on. A pack behind them may be written.
  [[gnu::noinline]] void sum(const T* image, const T* weight, index first_row, index rows, T* to) const {
    const auto lines = lines_of(image, first_row);
    const index columns = columns_;
    pack weights[9];
    TENON_UNROLL(9)
    for (int i = 0; i < 9; ++i) weights[i] = weight[i] - pack{};
    for (index i = packs_ - 1; i >= 0; --i) {  // the last ones first, as their packs end in what others write later
      typename tap_columns<T>::kept taps = taps_[i];
      const index ahead = i * lanes + ahead_;
      pack first{}, second{};  // sums of the row of windows that a line begins, and of the one before
      const auto meet = [&](index number) {
        const T* const line = lines(number);
        __builtin_prefetch(line + ahead);
        const pack left = taps.left.load(line), middle = taps.middle.load(line), right = taps.right.load(line);
        const pack third = second + (weights[6] * left + weights[7] * middle + weights[8] * right);
        second = first + (weights[3] * left + weights[4] * middle + weights[5] * right);
        first = weights[0] * left + weights[1] * middle + weights[2] * right;
        return third;
      };
      meet(0), meet(1);
      T* row = to + i * lanes;
      for (index number = 0; number < rows; ++number, row += columns) simd::store<lanes>(row, meet(number + 2));
    }
  }
  /// Adds to each tap's `sums` what it sees in `rows` rows of windows times their gradients, which lie side by side.
  [[gnu::noinline]] void add_gradients(const T* image, const T* gradients, index rows, pack (&sums)[9]) const {
    const auto lines = lines_of(image, 0);
    const index columns = columns_;
    pack kept[9];
    TENON_UNROLL(9)
    for (int i = 0; i < 9; ++i) kept[i] = sums[i];
    for (index i = 0; i < packs_; ++i) {
      typename tap_columns<T>::kept taps = taps_[i];
      const index ahead = i * lanes + ahead_;
      pack first{}, second{}, third{};  // gradients of the row of windows that a line begins, and of the two before
      const T* row = gradients;
      for (index number = 0; number < rows + 2; ++number, row += columns) {
        const T* const line = lines(number);
        __builtin_prefetch(line + ahead), __builtin_prefetch(row + ahead);
        const pack left = taps.left.load(line), middle = taps.middle.load(line), right = taps.right.load(line);
        third = second, second = first;
        if (number < rows) {
          first = taps.windows.load(row);
          kept[0] += first * left, kept[1] += first * middle, kept[2] += first * right;
        }
        if (number >= 1 && number <= rows) {
          kept[3] += second * left, kept[4] += second * middle, kept[5] += second * right;
        }
        if (number >= 2) kept[6] += third * left, kept[7] += third * middle, kept[8] += third * right;
      }
    }
    TENON_UNROLL(9)
    for (int i = 0; i < 9; ++i) sums[i] = kept[i];
  }

 private:
  /// Lines of an image as the windows from a row on see them; zeros where it has none.
  TENON_INLINE auto lines_of(const T* image, index first_row) const {
    return [image, first = first_row - padding_, step = row_step_, count = lines_, zeros = zeros_](index number) {
      const index place = first + number;
      return place < 0 || place >= count ? zeros : image + place * step;
    };
  }

  index row_step_, lines_, padding_, columns_, packs_;
  index ahead_;  // how far to look ahead: whole rows, as windows are done column by column
  const tap_columns<T>* taps_;
  const T* zeros_;
};

/// Whether windows are 3 x 3 neighbours, side by side, of images whose columns are.
template <class Patches>
bool are_neighbours(const Patches& patches) {
  constexpr array<index, 2> ones{{1, 1}}, threes{{3, 3}};
  const auto& geometry = patches.geometry;
  return geometry.kernel == threes && geometry.stride == ones && geometry.dilation == ones &&
         geometry.image_step == ones && patches.program.stride[4] == 1;
}

/// A channel of an image of a group in memory.
template <class Patches>
auto plane_of(const Patches& patches, index group, index number, index channel) {
  return patches.program.at({{group, number, channel, 0, 0}}).data;
}

/// How many groups of channels a product with patches has, which are its batches.
template <class Left>
index groups_of(const Left& left) {
  constexpr auto batches = Left::axes_type::batches;
  static_assert(batches.size() == 1);
  return left.extents[batches[0]];
}
/// An operand of such a product, or its epilogue, as group `group` sees it.
template <class Left, class Operand>
TENON_INLINE Operand seen_by_group(const Operand& operand, index group) {
  constexpr int axis = Left::axes_type::result_batches[0];
  array<index, axis + 1> position{};
  position[axis] = group;
  return operand.at_batch(position);
}

}  // namespace detail

/// A product with the patches of single channels in memory, of all groups.
template <class Products, class Left, class Patches, class Epilogue>
struct depthwise_product {
  using T = typename Products::unit;
  Left left;
  Patches patches;
  Epilogue epilogue;

  void run(index rows, index columns, index) const {
    const auto& geometry = patches.geometry;
    const detail::scratch memory;
    const index groups = detail::groups_of(left), planes = groups * rows;
    T* const weights = memory.take<T>(planes * 9);  // finding a weight is slower than a window
    for (index group = 0; group < groups; ++group) {
      const Left seen = detail::seen_by_group<Left>(left, group);
      T* const to = weights + group * rows * 9;
      for (index i = 0; i < rows * 9; ++i) to[i] = static_cast<T>(seen.value(i / 9, i % 9));
    }
    const index items = planes * (columns / geometry.windows()), grain = 1 + 65536 / geometry.windows();
    const index parts = part_count(items, grain), width = geometry.output[1];
    const index size = detail::conflict_free_pitch<T>(rows_at_once(width) * width + detail::tap_columns<T>::lanes);
    T* const results = memory.take<T>(parts * size);
    const detail::neighbour_windows<T> windows(patches, memory);
    parallel_parts(items, grain, parts, [&](index first, index last, index part) {
      for (index item = first; item < last; ++item) {
        const index plane = item % planes;
        run_plane(windows, weights + plane * 9, plane / rows, plane % rows, item / planes, results + part * size);
      }
    });
  }

 private:
  static constexpr index most_columns = 2048, unit = detail::rows_together<Epilogue>;

  static index rows_at_once(index width) {
    return detail::round_up(width > most_columns ? 1 : most_columns / width, unit);
  }
  void run_plane(const detail::neighbour_windows<T>& windows, const T* weights, index group, index row, index number,
                 T* results) const {
    const auto& geometry = patches.geometry;
    const T* const image = detail::plane_of(patches, group, number, 0);
    const Epilogue stores = detail::seen_by_group<Left>(epilogue, group);
    const index width = geometry.output[1], rows = geometry.output[0] / unit * unit, together = rows_at_once(width);
    for (index first = 0; first < rows; first += together) {
      const index count = detail::least(together, rows - first);
      windows.sum(image, weights, first, count, results);
      stores.store_tile(row, (number * geometry.output[0] + first) * width, {{1, count * width}}, results, 0);
    }
  }
};

/// The product of the gradients of a few results and the transposed patches of images in memory, of all groups.
template <class Products, class Left, class Patches, class Epilogue>
struct depthwise_weight_gradient {
  using T = typename Products::unit;
  Left left;
  Patches patches;
  Epilogue epilogue;

  void run(index rows, index columns, index depth) const {
    const index channels = columns / 9, images = depth / patches.geometry.windows();
    const detail::scratch memory;
    const detail::neighbour_windows<T> windows(patches, memory);
    parallel_for(detail::groups_of(left) * rows * channels, 1 + (index{1} << 16) / depth, [&](index first, index last) {
      for (; first < last; first += most_items) {
        run_items(windows, first, detail::least(last, first + most_items), {{rows, channels}}, images);
      }
    });
  }

 private:
  using pack = typename detail::tap_columns<T>::pack;
  static constexpr index most_items = 16;  // whose planes of an image are read one after another

  struct place {
    index group, row, channel;
  };
  static place place_of(index item, const array<index, 2>& counts) {
    const index line = item / counts[1];
    return {line / counts[0], line % counts[0], item % counts[1]};
  }
  void run_items(const detail::neighbour_windows<T>& windows, index first, index last, const array<index, 2>& counts,
                 index images) const {
    const auto& geometry = patches.geometry;
    const auto gradients_at = [&](const Left& seen, index row, index number) {
      return seen.program.at(seen.position(row, number * geometry.windows())).data;
    };
    const index image_step = patches.program.stride[1],
                gradient_step = images == 1 ? 0 : gradients_at(left, 0, 1) - gradients_at(left, 0, 0);
    array<const T*, 2> begins[most_items];
    for (index item = first; item < last; ++item) {
      const place at = place_of(item, counts);
      begins[item - first] = {{detail::plane_of(patches, at.group, 0, at.channel),
                               gradients_at(detail::seen_by_group<Left>(left, at.group), at.row, 0)}};
    }
    pack sums[most_items][9] = {};
    for (index number = 0; number < images; ++number) {
      for (index i = 0; i < last - first; ++i) {
        windows.add_gradients(begins[i][0] + number * image_step, begins[i][1] + number * gradient_step,
                              geometry.output[0], sums[i]);
      }
    }
    for (index item = first; item < last; ++item) {
      const place at = place_of(item, counts);
      T results[9];
      for (int tap = 0; tap < 9; ++tap) {
        results[tap] = simd::reduce(sums[item - first][tap], [](auto x, auto y) { return x + y; });
      }
      detail::seen_by_group<Left>(epilogue, at.group).store_tile(at.row, at.channel * 9, {{1, 9}}, results, 9);
    }
  }
};

namespace on_host {

/// Convolutions of one channel in windows of 3 x 3 side by side.
struct depthwise_windows {
  static constexpr const char* name = "depthwise windows";
  template <class Problem>
  static constexpr bool can_take =
      Problem::products::group == 1 && detail::sees_memory<typename Problem::unit, typename Problem::right_type>;
  static bool takes(const auto& problem) { return problem.extents.depth == 9 && detail::are_neighbours(problem.right); }
  static void run(const auto& problem) { problem.template run_engine<depthwise_product>(problem.right); }
};

/// Gradients of weights in such windows, where results are few (more of them make vectors) and the gradients of an
/// image lie side by side.
struct depthwise_weight_gradients {
  static constexpr const char* name = "depthwise weight gradients";
  template <class Problem>
  static constexpr bool can_take =
      Problem::products::group == 1 &&
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
