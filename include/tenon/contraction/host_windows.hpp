// tenon/contraction/host_windows.hpp: convolutions on the host.
// A strip of an image is laid out so that taps read along lines; then the tile loop of host_product runs unchanged.
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

/// A weight whose columns see lines of an image: what column k multiplies begins `offsets[k]` behind a window's place.
/// There are `listed_ahead` more offsets than columns.
template <class Unit>
struct listed_weight {
  matrix_memory<Unit> left;
  index depth;
  const index* offsets;

  /// Offsets behind the last one, which are asked for and not used.
  static void pad(index* offsets, index depth) {
    std::fill_n(offsets + depth, listed_ahead, depth == 0 ? 0 : offsets[depth - 1]);
  }
};

/// Sums of `height` rows of a weight from `row` on for all windows, block after block of k, as products of matrices are
/// summed. They lie as the windows do, rows `panels.padded()` apart.
template <class Products>
void multiply_windows(const listed_weight<typename Products::unit>& weight, const array<index, 2>& row_and_height,
                      const column_panels<Products>& panels, const typename Products::unit* image,
                      typename Products::sum* sums) {
  const index step = product_blocks<Products>::depth(weight.depth), pitch = panels.padded();
  for (index panel = 0; panel < panels.panels; ++panel) {
    const index number = panels.first_column(panel);
    auto* const to = sums + number;
    for (index k = 0; k == 0 || k < weight.depth; k += step) {
      tile_operands<Products> operands{weight.left.at(row_and_height[0], k), image + number, weight.left.row_step, 1, 0,
                                       least(step, weight.depth - k)};
      operands.right_offsets = weight.offsets + k;
      if (k != 0) operands.before = to, operands.before_pitch = pitch;
      multiply_window_tile(operands, row_and_height[1], panels.width(panel), to, pitch);
    }
  }
}

/// As many rows of windows as fit half of the second cache; fewer where there would be too little work for all
/// threads. `extents` are the number of planes, and their rows.
template <class Unit, class Lines>
index rows_of_strip(const Lines& lines, index channels, const array<index, 2>& extents) {
  constexpr index most_columns = 2048;
  const index bytes_of_line = channels * lines.blocks() * lines.pitch() * static_cast<index>(sizeof(Unit));
  const index fit = least(caches().second / 2 / (bytes_of_line + 1) - lines.reach(), most_columns / lines.pitch());
  index strips = (extents[1] + std::max(fit, index{1}) - 1) / std::max(fit, index{1});
  while (thread_count() > 1 && extents[0] * strips < 4 * thread_count() && 2 * strips <= extents[1]) strips *= 2;
  return (extents[1] + strips - 1) / strips;
}

/// A weight where it lies, or a copy with adjacent rows in the calling thread's workspace 1.
template <class Products, class Left>
matrix_memory<typename Products::unit> prepare_weight(const Left& left, index rows, index depth) {
  using unit = typename Products::unit;
  if constexpr (std::is_same_v<memory_element_of<Left>, unit>) {
    const auto memory = memory_of(left);
    if (memory.data != nullptr && memory.column_step == 1) return memory;
  }
  const index pitch = conflict_free_pitch<unit>(depth);
  unit* copy = product_workspace<unit, 1>(rows * pitch);
  parallel_for(rows, 1 + 32768 / (depth + 1), [&](index first, index last) {
    pack_left<Products>(left, {first, last - first, 0, depth}, last - first, copy + first * pitch, pitch);
  });
  return {copy, pitch, 1};
}

/// How many rows a tile takes of `rest`.
template <class Products>
constexpr index tile_rows(index rest) {
  using tile = host_tile<Products>;
  return rest >= tile::height ? tile::height : rest >= tile::step ? tile::step : 1;
}

template <class Matrix>
inline constexpr bool is_patch_matrix = false;
template <class Program, int Rank, int GroupAxis>
inline constexpr bool is_patch_matrix<patch_matrix<Program, Rank, GroupAxis>> = true;

/// Whether zeros lie between the elements of images.
template <int Rank>
bool are_spread(const patch_geometry<Rank>& geometry) {
  for (const index step : geometry.image_step) {
    if (step != 1) return true;
  }
  return false;
}

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
    const bool crosses = rows_together == 1 && lines.crosses_planes();
    const index plane_rows = crosses ? all_rows : lines.rows(), planes = all_rows / plane_rows;
    const index wanted_rows = detail::rows_of_strip<unit>(lines, channels, {{planes, plane_rows}});
    const index strip_rows = detail::round_up(wanted_rows, rows_together);
    index* offsets = detail::product_workspace<index, 6>(depth + detail::listed_ahead);
    lines.find_taps(channels, strip_rows, offsets);
    weight::pad(offsets, depth);
    const product shared{
        rows, channels, strip_rows, lines, {detail::prepare_weight<Products>(left, rows, depth), depth, offsets}};
    const index used_rows = plane_rows / rows_together * rows_together;
    const index strips = (used_rows + strip_rows - 1) / strip_rows, work = rows * depth * strip_rows * lines.columns();
    const index grain = 1 + multiplying_grain / (work + 1), parts = part_count(planes * strips, grain);
    const index image_size = detail::conflict_free_pitch<unit>(lines.size(channels, strip_rows) + tile::width);
    const index result_size =
        detail::conflict_free_pitch<sum>(tile::height * column_panels<Products>(lines.numbers(strip_rows)).padded());
    unit* const images = detail::product_workspace<unit, 7>(parts * image_size);
    sum* const results = detail::product_workspace<sum, 8>(parts * result_size);
    parallel_parts(planes * strips, grain, parts, [&](index first, index last, index part) {
      for (index item = first; item < last; ++item) {
        const index row = item % strips * strip_rows, count = detail::least(strip_rows, used_rows - row);
        run_strip(shared, {item / strips * plane_rows + row, count},
                  {images + part * image_size, results + part * result_size});
      }
    });
  }

 private:
  using lines_type = decltype(window_lines(std::declval<const Patches&>().geometry));
  using weight = detail::listed_weight<unit>;
  static constexpr index multiplying_grain = index{1} << 20;

  /// What all strips share.
  struct product {
    index rows, channels, strip_rows;
    lines_type lines;
    weight listed;
  };
  /// The memory of a thread.
  struct strip_memory {
    unit* image;
    sum* results;
  };
  /// `rows[1]` rows of windows from `rows[0]` on.
  void run_strip(const product& shared, const array<index, 2>& rows, const strip_memory& memory) const {
    const lines_type& lines = shared.lines;
    const index first_row = rows[0], count = rows[1];
    unit* const image = memory.image;
    sum* const results = memory.results;
    lines.copy(patches, {first_row, count, shared.strip_rows}, {{0, shared.channels}}, image);
    const column_panels<Products> panels(lines.numbers(count));
    const index pitch = panels.padded();
    index height = 0;
    for (index row = 0; row < shared.rows; row += height) {
      height = detail::tile_rows<Products>(shared.rows - row);
      detail::multiply_windows<Products>(shared.listed, {{row, height}}, panels, image, results);
      lines.close_gaps(results, height, count, pitch);
      epilogue.store_tile(row, first_row * lines.columns(), {{height, count * lines.columns()}}, results, pitch);
    }
  }

  static constexpr index rows_together = detail::rows_together<Epilogue>;  // strips hold a multiple of them
};

namespace on_host {

/// All convolutions that no algorithm before it takes.
struct windows {
  static constexpr const char* name = "windows";
  template <class Problem>
  static constexpr bool can_take = detail::is_patch_matrix<typename Problem::right_type>;
  static void run(const auto& problem) { problem.template run_engine<window_product>(problem.right); }
};

}  // namespace on_host

}  // namespace tenon
