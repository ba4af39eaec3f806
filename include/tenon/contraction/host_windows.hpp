// tenon/contraction/host_windows.hpp: convolutions on the host.
// A strip of an image is laid out so that every tap of its windows reads along lines; then tiles multiply as ever.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/host_blocks.hpp>
#include <tenon/contraction/window_lines.hpp>
#include <tenon/device/threads.hpp>

namespace tenon {

namespace detail {

/// A multiplied tile of windows; its heights are those of host_tile, or 1.
template <class Products>
void multiply_window_tile(const tile_operands<Products>& operands, index height, index width,
                          typename Products::sum* to, index pitch) {
  using tile = host_tile<Products>;
  constexpr auto rows = right_rows::listed;
  using function = void (*)(const tile_operands<Products>&, typename Products::sum*, index);
  static constexpr function functions[3][3] = {
      {multiply_tile<Products, 1, 1, rows>, multiply_tile<Products, 1, 2, rows>, multiply_tile<Products, 1, 3, rows>},
      {multiply_tile<Products, tile::step, 1, rows>, multiply_tile<Products, tile::step, 2, rows>,
       multiply_tile<Products, tile::step, 3, rows>},
      {multiply_tile<Products, tile::height, 1, rows>, multiply_tile<Products, tile::height, 2, rows>,
       multiply_tile<Products, tile::height, 3, rows>}};
  functions[height / tile::step][width / tile::lanes - 1](operands, to, pitch);
}

template <class Matrix>
inline constexpr bool is_patch_matrix = false;
template <class Program, int Rank, int GroupAxis>
inline constexpr bool is_patch_matrix<patch_matrix<Program, Rank, GroupAxis>> = true;

}  // namespace detail

/// The product of a weight and the patches of images: row (o), columns (n, p, q).
/// cost      as host_product; each element of the image is read and computed once for each strip that it is in, and
///           no patch is copied. Strips take half of the second cache, or one row of windows
template <class Products, class Left, class Patches, class Epilogue>
struct window_product {
  using tile = host_tile<Products>;
  using unit = typename Products::unit;
  using sum = typename Products::sum;
  static_assert(Products::group == 1 && std::is_same_v<unit, sum>);
  Left left;
  Patches patches;
  Epilogue epilogue;

  void run(index rows, index columns, index depth) const {
    if (rows == 0 || columns == 0) return;
    const lines_type lines(patches.geometry);
    const index channels = depth / patches.geometry.taps(), all_rows = columns / lines.columns();
    const index plane_rows = lines.crosses_planes() ? all_rows : lines.rows(), planes = all_rows / plane_rows;
    const index strip_rows = rows_of_strip(lines, channels, {planes, plane_rows});
    index* offsets = detail::product_workspace<index, 6>(depth + detail::listed_ahead);
    lines.find_taps(channels, strip_rows, offsets);
    std::fill_n(offsets + depth, detail::listed_ahead, depth == 0 ? 0 : offsets[depth - 1]);
    const product shared{rows, depth, channels, strip_rows, lines, offsets, prepare_left(rows, depth)};
    const index strips = (plane_rows + strip_rows - 1) / strip_rows, work = rows * depth * strip_rows * lines.columns();
    parallel_for(planes * strips, 1 + multiplying_grain / (work + 1), [&](index first, index last) {
      for (index item = first; item < last; ++item) {
        const index row = item % strips * strip_rows, count = detail::least(strip_rows, plane_rows - row);
        run_strip(shared, item / strips * plane_rows + row, count);
      }
    });
  }

 private:
  using lines_type = decltype(window_lines(std::declval<const Patches&>().geometry));
  /// What all strips share.
  struct product {
    index rows, depth, channels, strip_rows;
    lines_type lines;
    const index* offsets;  // of each k
    matrix_memory<unit> left;
  };
  /// As many rows of windows as fit half of the second cache; fewer where there would be too little work for all
  /// threads. `extents` are the number of planes, and their rows.
  static index rows_of_strip(const lines_type& lines, index channels, const array<index, 2>& extents) {
    const index line_bytes = channels * lines.blocks() * lines.pitch() * static_cast<index>(sizeof(unit));
    const index fit =
        detail::least(caches().second / 2 / (line_bytes + 1) - lines.reach(), most_columns / lines.pitch());
    index strips = (extents[1] + std::max(fit, index{1}) - 1) / std::max(fit, index{1});
    while (thread_count() > 1 && extents[0] * strips < 4 * thread_count() && 2 * strips <= extents[1]) strips *= 2;
    return (extents[1] + strips - 1) / strips;
  }

  /// The weight where it lies, or a copy with adjacent rows.
  matrix_memory<unit> prepare_left(index rows, index depth) const {
    if constexpr (std::is_same_v<memory_element_of<Left>, unit>) {
      const auto memory = memory_of(left);
      if (memory.data != nullptr && memory.column_step == 1) return memory;
    }
    const index pitch = detail::spread_pitch<unit>(depth);
    unit* copy = detail::product_workspace<unit, 1>(rows * pitch);
    parallel_for(rows, 1 + packing_grain / (depth + 1), [&](index first, index last) {
      pack_left<Products>(left, {first, last - first, 0, depth}, last - first, copy + first * pitch, pitch);
    });
    return {copy, pitch, 1};
  }

  /// `count` rows of windows from `first_row` on.
  void run_strip(const product& shared, index first_row, index count) const {
    const lines_type& lines = shared.lines;
    unit* image = detail::product_workspace<unit, 7>(lines.size(shared.channels, shared.strip_rows) + tile::width);
    lines.copy(patches, {first_row, count, shared.strip_rows}, {{0, shared.channels}}, image);
    const column_panels<Products> panels(lines.numbers(count));
    const index pitch = panels.padded();
    sum* results = detail::product_workspace<sum, 8>(tile::height * pitch);
    index height = 0;
    for (index row = 0; row < shared.rows; row += height) {
      const index rest = shared.rows - row;
      height = rest >= tile::height ? tile::height : rest >= tile::step ? tile::step : 1;
      for (index panel = 0; panel < panels.panels; ++panel) {
        const index number = panels.first_column(panel);
        run_tile(shared, {row, height, panels.width(panel)}, image + number, results + number, pitch);
      }
      lines.close_gaps(results, height, count, pitch);
      epilogue.store_tile(row, first_row * lines.columns(), {{height, count * lines.columns()}}, results, pitch);
    }
  }

  struct tile_place {
    index row, height, width;
  };
  /// One tile, block after block of k, as products of matrices are summed.
  static void run_tile(const product& shared, const tile_place& place, const unit* image, sum* to, index pitch) {
    const index step = product_blocks<Products>::depth(shared.depth);
    for (index k = 0; k == 0 || k < shared.depth; k += step) {
      tile_operands<Products> operands{shared.left.at(place.row, k),         image, shared.left.row_step, 1, 0,
                                       detail::least(step, shared.depth - k)};
      operands.right_offsets = shared.offsets + k;
      if (k != 0) operands.before = to, operands.before_pitch = pitch;
      detail::multiply_window_tile(operands, place.height, place.width, to, pitch);
    }
  }

  static constexpr index packing_grain = 32768, multiplying_grain = index{1} << 20, most_columns = 2048;
};

}  // namespace tenon
