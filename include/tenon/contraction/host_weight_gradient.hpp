// tenon/contraction/host_weight_gradient.hpp: weight gradients of convolutions on the host.
// Taps are the rows of a tile: each reads what its windows see along the lines of a strip, so that no patch is copied.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host_windows.hpp>

namespace tenon {

namespace detail {

/// The operands of a tile of taps. Windows lie in rows `pitch` apart in the lines; each tap sees an element for every
/// window. The rows of `right` follow one another, one for each window.
template <class Unit>
struct tap_operands {
  const Unit* lines;
  const index* offsets;  // of each tap
  index planes, plane_step, rows, pitch, columns;
  const Unit* right;
};

/// Adds the sums of a tile to rows `pitch` apart.
template <class Products, int Height, int Vectors>
[[gnu::noinline]] void add_taps(const tap_operands<typename Products::unit>& operands, typename Products::sum* to,
                                index pitch) {
  using unit = typename Products::unit;
  constexpr int lanes = Products::lanes;
  typename Products::pack sums[Height][Vectors] = {};
  const unit* taps[Height];
  for (int i = 0; i < Height; ++i) taps[i] = operands.lines + operands.offsets[i];
  const unit* right = operands.right;
  const index all_rows = operands.planes * operands.rows;
  const index next_plane = operands.plane_step - operands.rows * operands.pitch;
  for (index row = 0, left = operands.rows; row < all_rows; ++row) {
    for (index k = 0; k < operands.columns; ++k, right += Vectors * lanes) {
      simd::pack<unit, lanes> gradients[Vectors];
      TENON_UNROLL(3)
      for (int j = 0; j < Vectors; ++j) gradients[j] = simd::load<unit, lanes>(right + j * lanes);
      TENON_UNROLL(8)
      for (int i = 0; i < Height; ++i) {
        const unit number = taps[i][k];
        TENON_UNROLL(3)
        for (int j = 0; j < Vectors; ++j) sums[i][j] = Products::add(sums[i][j], number, gradients[j]);
      }
    }
    const bool ends_plane = --left == 0;
    if (ends_plane) left = operands.rows;
    TENON_UNROLL(8)
    for (int i = 0; i < Height; ++i) taps[i] += operands.pitch + (ends_plane ? next_plane : 0);
  }
  TENON_UNROLL(8)
  for (int i = 0; i < Height; ++i, to += pitch) {
    TENON_UNROLL(3)
    for (int j = 0; j < Vectors; ++j) {
      simd::store<lanes>(to + j * lanes, sums[i][j] + simd::load<typename Products::sum, lanes>(to + j * lanes));
    }
  }
}

/// For a tile of the height of host_tile, or its step, and of one to three vectors.
template <class Products>
void add_taps(const tap_operands<typename Products::unit>& operands, index height, index width,
              typename Products::sum* to, index pitch) {
  using tile = host_tile<Products>;
  using function = void (*)(const tap_operands<typename Products::unit>&, typename Products::sum*, index);
  static constexpr function functions[2][3] = {
      {add_taps<Products, tile::step, 1>, add_taps<Products, tile::step, 2>, add_taps<Products, tile::step, 3>},
      {add_taps<Products, tile::height, 1>, add_taps<Products, tile::height, 2>, add_taps<Products, tile::height, 3>}};
  functions[height / tile::height][width / tile::lanes - 1](operands, to, pitch);
}

template <class Matrix>
inline constexpr bool is_transposed_patch_matrix = false;
template <class Matrix>
inline constexpr bool is_transposed_patch_matrix<transposed_matrix<Matrix>> = is_patch_matrix<Matrix>;

}  // namespace detail

/// The product of gradients and the transposed patches of images: row (o), column (c, r, s), depth (n, p, q).
/// cost      2 rows columns depth operations; gradients are packed once, images once for each strip of about a thousand
///           windows, whose sums are added up in memory. Small weights have several sums, each over its own strips, so
///           that threads need not wait for each other at each strip
template <class Products, class Left, class Patches, class Epilogue>
struct host_weight_gradient {
  using tile = host_tile<Products>;
  using unit = typename Products::unit;
  using sum = typename Products::sum;
  using panels = column_panels<Products>;
  static_assert(Products::group == 1 && std::is_same_v<unit, sum>);
  Left left;
  Patches patches;
  Epilogue epilogue;

  void run(index rows, index columns, index depth) const {
    if (rows == 0 || columns == 0) return;
    const lines_type lines(patches.geometry);
    const index taps = patches.geometry.taps(), channels = columns / taps;
    const tap_blocks blocks{taps, channels, detail::least(channels, most_channels)};
    const panels outputs(rows);
    const index sums_count = blocks.count() * blocks.padded_taps() * outputs.padded();
    const strips cut(lines, depth);
    const index slices = std::max(index{1}, detail::least(cut.count(), most_sums / sums_count));
    const detail::scratch memory;
    sum* const sums = memory.take<sum>(slices * sums_count);
    std::fill_n(sums, slices * sums_count, sum(0));
    const index slice_work = rows * columns * depth / slices;
    parallel_for(slices, 1 + detail::multiplying_grain / (slice_work + 1), [&](index first, index last) {
      for (index slice = first; slice < last; ++slice) {
        add_strips(lines, blocks, outputs, cut, {{cut.count() * slice / slices, cut.count() * (slice + 1) / slices}},
                   rows, sums + slice * sums_count);
      }
    });
    for (index slice = 1; slice < slices; ++slice) {
      for (index i = 0; i < sums_count; ++i) sums[i] += sums[slice * sums_count + i];
    }
    store(blocks, outputs, rows, sums);
  }

 private:
  using left_axes = typename Left::axes_type;
  using lines_type = decltype(window_lines(std::declval<const Patches&>().geometry));
  static constexpr index most_channels = 8, most_windows = 1024, packing_grain = 32768, most_sums = index{1} << 18;

  /// Blocks of channels; each block has a tile's rows of sums.
  struct tap_blocks {
    index taps, channels, in_block;

    index count() const { return (channels + in_block - 1) / in_block; }
    index padded_taps() const { return detail::round_up(in_block * taps, tile::step); }
    index first_channel(index block) const { return block * in_block; }
    index channels_of(index block) const { return detail::least(in_block, channels - block * in_block); }
  };
  /// Rows of windows in planes that follow one another. The lines of a plane have room for `room` rows.
  struct strip {
    index first_plane, planes, row, rows, room;
  };
  /// All strips. They follow from extents alone, as the order of additions does.
  struct strips {
    index planes = 0, plane_rows = 0, strip_planes = 1, strip_rows = 1;

    strips(const lines_type& lines, index depth) {
      if (depth == 0) return;
      const index all_rows = depth / lines.columns();
      plane_rows = lines.crosses_planes() ? all_rows : lines.rows(), planes = all_rows / plane_rows;
      strip_rows = even_share(plane_rows, most_windows / lines.columns());
      strip_planes = even_share(planes, most_windows / (plane_rows * lines.columns()));
    }
    index count() const { return shares(planes, strip_planes) * shares(plane_rows, strip_rows); }
    strip operator[](index number) const {
      const index of_plane = shares(plane_rows, strip_rows);
      const index plane = number / of_plane * strip_planes, row = number % of_plane * strip_rows;
      return {plane, detail::least(strip_planes, planes - plane), row, detail::least(strip_rows, plane_rows - row),
              strip_rows};
    }
  };
  /// What the strips share.
  struct product {
    index rows, plane_rows;
    lines_type lines;
    tap_blocks blocks;
    panels outputs;
    const index* offsets;  // of the taps of a block
    unit* gradients;       // of a strip
    sum* sums;

    index windows(const strip& part) const { return part.planes * part.rows * lines.columns(); }
  };

  /// Adds the sums of the strips `own[0]` to `own[1]` - 1.
  void add_strips(const lines_type& lines, const tap_blocks& blocks, const panels& outputs, const strips& cut,
                  const array<index, 2>& own, index rows, sum* sums) const {
    const detail::scratch memory;
    index* const offsets = memory.take<index>(blocks.padded_taps());
    lines.find_taps(blocks.in_block, cut.strip_rows, offsets);
    std::fill(offsets + blocks.in_block * blocks.taps, offsets + blocks.padded_taps(), index{0});
    const index most = cut.strip_planes * cut.strip_rows * lines.columns() * outputs.padded();
    unit* const gradients = memory.take<unit>(most);
    const product shared{rows, cut.plane_rows, lines, blocks, outputs, offsets, gradients, sums};
    for (index number = own[0]; number < own[1]; ++number) {
      const strip part = cut[number];
      pack_gradients(shared, part);
      add_strip(shared, part);
    }
  }
  static index shares(index count, index share) { return (count + share - 1) / share; }
  /// The size of a share of `count`: the fewest shares of at most `most`, of nearly equal size.
  static index even_share(index count, index most) { return shares(count, shares(count, std::max(most, index{1}))); }

  /// The gradients of windows in panels of outputs. The gradients of a window lie side by side.
  void pack_gradients(const product& shared, const strip& part) const {
    const index windows = shared.windows(part), of_plane = part.rows * shared.lines.columns();
    const index items = shared.outputs.panels * part.planes;
    parallel_for(items, 1 + packing_grain / (of_plane * tile::width), [&](index first, index last) {
      for (index item = first; item < last; ++item) {
        const index panel = item / part.planes, plane = item % part.planes;
        const index row = shared.outputs.first_column(panel), width = shared.outputs.width(panel);
        const index window = ((part.first_plane + plane) * shared.plane_rows + part.row) * shared.lines.columns();
        pack_panel({row, detail::least(width, shared.rows - row), window, of_plane}, width,
                   shared.gradients + row * windows + plane * of_plane * width);
      }
    });
  }
  void pack_panel(const matrix_part& part, index width, unit* to) const {
    if constexpr (std::is_same_v<memory_element_of<Left>, unit>) {
      constexpr auto rows = left_axes::rows;
      constexpr auto columns = left_axes::columns;
      const auto& stride = left.program.stride;
      const bool is_adjacent = stride[columns[columns.size() - 1]] == 1 && left.run_from(part.column) >= part.columns;
      if (is_adjacent && part.rows == width) {
        const unit* from = left.program.at(left.position(part.row, part.column)).data;
        return simd::copy_matrix(to, from, {part.columns, width, 1, stride[rows[rows.size() - 1]], width});
      }
    }
    const auto fill = [&](index j, index from, index length, unit* elements) {
      detail::copy_row(left, part.row + j, part.column + from, length, elements);
    };
    detail::pack_filled<unit>(part.rows, part.columns, width, to, fill);
  }

  void add_strip(const product& shared, const strip& part) const {
    const tap_blocks& blocks = shared.blocks;
    const index windows = shared.windows(part), work = blocks.padded_taps() * windows * tile::width;
    const index grain = 1 + detail::multiplying_grain / work;
    parallel_for(blocks.count() * shared.outputs.panels, grain, [&](index first, index last) {
      const index plane_step = shared.lines.size(blocks.in_block, part.room);
      const detail::scratch memory;
      unit* const image = memory.take<unit>(part.planes * plane_step);
      index copied = -1;
      for (index item = first; item < last; ++item) {
        const index block = item / shared.outputs.panels, panel = item % shared.outputs.panels;
        if (block != copied) copy_block(shared, part, block, image), copied = block;
        const index column = shared.outputs.first_column(panel), pitch = shared.outputs.padded();
        const index end = detail::round_up(blocks.channels_of(block) * blocks.taps, tile::step);
        detail::tap_operands<unit> operands{image,
                                            nullptr,
                                            part.planes,
                                            plane_step,
                                            part.rows,
                                            shared.lines.pitch(),
                                            shared.lines.columns(),
                                            shared.gradients + column * windows};
        index height = 0;
        for (index tap = 0; tap < end; tap += height) {
          height = end - tap >= tile::height ? tile::height : tile::step;
          operands.offsets = shared.offsets + tap;
          detail::add_taps<Products>(operands, height, shared.outputs.width(panel),
                                     shared.sums + (block * blocks.padded_taps() + tap) * pitch + column, pitch);
        }
      }
    });
  }
  /// Lays out what the windows of a strip see in a block of channels, plane after plane.
  void copy_block(const product& shared, const strip& part, index block, unit* to) const {
    const index channel = shared.blocks.first_channel(block), end = channel + shared.blocks.channels_of(block);
    for (index plane = 0; plane < part.planes; ++plane, to += shared.lines.size(shared.blocks.in_block, part.room)) {
      const index row = (part.first_plane + plane) * shared.plane_rows + part.row;
      shared.lines.copy(patches, {row, part.rows, part.room}, {{channel, end}}, to);
    }
  }

  /// Turns sums [taps, outputs] into results [outputs, taps].
  void store(const tap_blocks& blocks, const panels& outputs, index rows, const sum* sums) const {
    const index width = blocks.in_block * blocks.taps, least = 1 + packing_grain / (rows * width);
    const index parts = part_count(blocks.count(), least), size = detail::conflict_free_pitch<sum>(rows * width);
    const detail::scratch memory;
    sum* const all_results = memory.take<sum>(parts * size);
    parallel_parts(blocks.count(), least, parts, [&](index first, index last, index part) {
      sum* const results = all_results + part * size;
      for (index block = first; block < last; ++block) {
        const index count = blocks.channels_of(block) * blocks.taps;
        simd::copy_matrix(results, sums + block * blocks.padded_taps() * outputs.padded(),
                          {rows, count, 1, outputs.padded(), width});
        epilogue.store_tile(0, block * width, {{rows, count}}, results, width);
      }
    });
  }
};

namespace on_host {

/// Gradients of weights, except where windows have one tap: then patches are images, which are packed as they are.
struct weight_gradients {
  static constexpr const char* name = "weight gradients";
  template <class Problem>
  static constexpr bool can_take = detail::is_transposed_patch_matrix<typename Problem::right_type>;
  static bool takes(const auto& problem) { return problem.right.matrix.geometry.taps() != 1; }
  static void run(const auto& problem) { problem.template run_engine<host_weight_gradient>(problem.right.matrix); }
};

}  // namespace on_host

}  // namespace tenon
