// tenon/contraction/host_product.hpp: the blocked product of the host.
// For each block of k both operands are prepared; then panels of columns times blocks of rows are the threads' work.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host_blocks.hpp>
#include <tenon/contraction/host_problem.hpp>

namespace tenon {

/// One product: what is multiplied and what is done with the results.
/// cost      2 rows columns depth operations; a part of the result is at most 1024 x 1056, its packed operands some 8
///           MiB, and its sums are kept in memory where k takes several blocks
/// source    Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008)
template <class Products, class Left, class Right, class Epilogue>
struct host_product {
  using tile = host_tile<Products>;
  using blocks = product_blocks<Products>;
  using panels = column_panels<Products>;
  using unit = typename Products::unit;
  using sum = typename Products::sum;
  Left left;
  Right right;
  Epilogue epilogue;

  /// All results, part by part.
  [[gnu::noinline]] void run(index rows, index columns, index depth) const {
    const detail::scratch memory;
    if (rows > blocks::most_rows || columns > blocks::most_columns) reserve(rows, columns, depth);
    for (index row = 0; row < rows; row += blocks::most_rows) {
      for (index column = 0; column < columns; column += blocks::most_columns) {
        const index width = detail::least(blocks::most_columns, columns - column);
        run_part({row, detail::least(blocks::most_rows, rows - row), column, width, depth}, panels(width));
      }
    }
  }

 private:
  /// A block of k within a part of the results, its operands, and the sums of former blocks.
  struct depth_block {
    product_part part;
    panels columns;
    index first, count, steps;
    bool is_first, is_last;
    sum* sums;  // tiles one after another: those of a panel of columns, then those of the next; null for a single block
    index rows;  // of a piece of work
    operand_block<unit> left = {}, right = {};
    bool packs_panels = false;  // of the right operand, each in every piece of work that reads it
    const detail::scratch memory = {};

    sum* sums_at(index row, index panel) const {
      const index padded_rows = detail::round_up(part.rows, tile::step);
      return sums + columns.first_column(panel) * padded_rows + row * columns.width(panel);
    }
  };

  /// Allocates what any part may need: once results are written, no allocation may fail.
  static void reserve(index rows, index columns, index depth) {
    const index step = blocks::depth(depth), steps = (step + Products::group - 1) / Products::group;
    const index lines = detail::round_up(detail::least(rows, blocks::most_rows), tile::step);
    const index width = panels(detail::least(columns, blocks::most_columns)).padded();
    const index sums = step < depth ? lines * width * static_cast<index>(sizeof(sum)) : 0;
    const index units = lines * detail::conflict_free_pitch<unit>(steps) + width * right_panel_rows<Products>(steps) +
                        thread_count() * copied_panel(steps);
    detail::scratch().take<std::byte>(sums + units * static_cast<index>(sizeof(unit)));
  }

  void run_part(const product_part& part, const panels& columns) const {
    const index step = blocks::depth(part.depth);
    const detail::scratch memory;
    sum* sums = nullptr;
    if (step < part.depth) {
      sums = memory.take<sum>(detail::round_up(part.rows, tile::step) * columns.padded());
    }
    for (index k = 0; k == 0 || k < part.depth; k += step) {
      const index count = detail::least(step, part.depth - k), steps = (count + Products::group - 1) / Products::group;
      const index rows = rows_of_piece(part, columns.panels, count, steps);
      depth_block block{part, columns, k, count, steps, k == 0, k + step >= part.depth, sums, rows};
      prepare_left(block);
      prepare_right(block);
      multiply(block);
    }
  }

  void prepare_left(depth_block& block) const {
    const auto& part = block.part;
    auto& rows = block.left;
    rows.packed_line_step = detail::conflict_free_pitch<unit>(block.steps);
    if constexpr (std::is_same_v<memory_element_of<Left>, unit>) {
      const auto memory = memory_of(left);
      if (blocks::reads_in_place(memory, part)) {
        rows.data = memory.at(part.row, block.first), rows.line_step = memory.row_step, rows.step = memory.column_step;
        rows.first_packed = part.rows % tile::step == 0 ? part.rows : part.rows / tile::height * tile::height;
      }
    }
    const index lines = detail::round_up(part.rows, tile::step) - rows.first_packed;
    if (lines == 0) return;
    rows.packed = block.memory.template take<unit>(lines * rows.packed_line_step);
    parallel_for(lines, 1 + packing_grain / (block.steps + 1), [&](index first, index last) {
      const index row = rows.first_packed + first, count = last - first;
      const index inner = row < part.rows ? detail::least(count, part.rows - row) : 0;
      pack_left<Products>(left, {part.row + row, inner, block.first, block.count}, count, rows.packed_at(row),
                          rows.packed_line_step);
    });
  }

  void prepare_right(depth_block& block) const {
    const auto& part = block.part;
    auto& columns = block.right;
    columns.line_step = 1, columns.packed_line_step = right_panel_rows<Products>(block.steps);
    index first_panel = 0;
    if constexpr (std::is_same_v<memory_element_of<Right>, unit>) {
      const auto memory = memory_of(right);
      if (blocks::copies_on_reading(memory, part, block.steps)) {
        columns.data = memory.at(block.first, part.column), columns.step = memory.row_step;
        first_panel = block.columns.panels - (block.columns.padded() == part.columns ? 0 : 1);
        columns.first_packed =
            first_panel == block.columns.panels ? part.columns : block.columns.first_column(first_panel);
      }
    }
    const index count = block.columns.padded() - columns.first_packed;
    if (first_panel == block.columns.panels) return;
    if (columns.first_packed == 0 && packs_in_pieces(block)) {
      block.packs_panels = true, columns.first_packed = block.columns.padded();
      return;
    }
    columns.packed = block.memory.template take<unit>(count * columns.packed_line_step);
    parallel_for(block.columns.panels - first_panel, 1 + packing_grain / (tile::width * block.steps + 1),
                 [&](index first, index last) {
                   for (index panel = first_panel + first; panel < first_panel + last; ++panel) {
                     pack_panel(block, panel, columns.packed_at(block.columns.first_column(panel)));
                   }
                 });
  }

  /// Whether pieces of work pack panels for themselves: where each panel is read by one of them, and where it is little
  /// work that other threads would wait for, as they then read what they have written themselves.
  static bool packs_in_pieces(const depth_block& block) {
    const auto& part = block.part;
    const index row_blocks = (part.rows + block.rows - 1) / block.rows;
    const index threads = detail::threads_for(part.rows * part.columns * block.count);
    const bool is_little = block.columns.padded() * block.steps * blocks::unit_bytes <= caches().second;
    return row_blocks <= 1 || (row_blocks <= threads && is_little);
  }

  void pack_panel(const depth_block& block, index panel, unit* to) const {
    const index column = block.columns.first_column(panel), width = block.columns.width(panel);
    const matrix_part lines{block.first, block.count, block.part.column + column,
                            detail::least(width, block.part.columns - column)};
    pack_right<Products>(right, lines, width, to);
  }

  /// Units of a panel that a thread packs or copies.
  static constexpr index copied_panel(index steps) {
    return detail::conflict_free_pitch<unit>(tile::width * right_panel_rows<Products>(steps));
  }

  /// Blocks of rows are halved where there would be too few pieces of work for all threads, or unequal shares, if there
  /// is work enough to wake them.
  static index rows_of_piece(const product_part& part, index panel_count, index count, index steps) {
    const index all_work = part.rows * part.columns * count;
    const index threads = detail::threads_for(all_work);
    index rows = detail::least(blocks::rows(steps), detail::round_up(part.rows, tile::height));
    const auto blocks_of_rows = [&] { return (part.rows + rows - 1) / rows; };
    while (rows > 4 * tile::height && blocks_of_rows() % threads != 0 && blocks_of_rows() * panel_count < 4 * threads) {
      rows = detail::round_up(rows / 2, tile::height);
    }
    const index row_blocks = blocks_of_rows();
    return detail::round_up((part.rows + row_blocks - 1) / row_blocks, tile::height);  // as equal as may be
  }

  /// Multiplies the tiles of a block.
  void multiply(const depth_block& block) const {
    const auto& part = block.part;
    const index panel_count = block.columns.panels, rows = block.rows, row_blocks = (part.rows + rows - 1) / rows;
    const index work = block.count * tile::width * rows;
    const index items = row_blocks * panel_count, grain = 1 + detail::multiplying_grain / (work + 1);
    const index parts = part_count(items, grain), copy = copied_panel(block.steps);
    unit* const copies = block.right.first_packed == 0 ? nullptr : block.memory.template take<unit>(parts * copy);
    parallel_parts(items, 1, parts, [&](index first, index last, index number) {
      for (index item = first; item < last; ++item) {
        const index row = item / panel_count * rows;
        run_panel(block, item % panel_count, {row, detail::least(part.rows, row + rows)},
                  copies == nullptr ? nullptr : copies + number * copy);
      }
    });
  }

  /// The tiles of a panel of columns in the rows `rows[0]` to `rows[1]` - 1. Where the panel is read in place, the
  /// first tile copies it to `copy` for the tiles that follow.
  void run_panel(const depth_block& block, index panel, const array<index, 2>& rows, unit* copy) const {
    const index begin = rows[0], end = rows[1];
    const index column = block.columns.first_column(panel), width = block.columns.width(panel);
    const bool is_packed = block.packs_panels || block.right.is_packed(column);
    if (block.packs_panels) pack_panel(block, panel, copy);
    const unit* const from = block.packs_panels ? copy : block.right.at(column);
    tile_operands<Products> operands{nullptr, from, 1, 0, is_packed ? width : block.right.step, block.steps};
    if (!is_packed && end - begin > tile::step) operands.are_apart = true;
    if (operands.are_apart && end - begin > tile::height) operands.copied = copy;
    result_rows<sum> plain{nullptr, 0};
    if (block.is_last && block.part.columns - column >= width) {
      plain = epilogue.template plain_rows<sum>(block.part.row, block.part.column + column, width);
    }
    for (index row = begin; row < end; row += tile::height) {
      ask_for_next(block, panel, {row - begin, end - begin}, operands);
      run_tile(block, panel, {row, end - row}, operands, plain);
      if (operands.copied != nullptr) {
        operands.right = operands.copied, operands.right_step = width;
        operands.are_apart = false, operands.copied = nullptr;
      }
    }
  }

  /// Lets the tile after the first `rows[0]` of `rows[1]` rows ask for its share of the next panel, where that is
  /// packed.
  static void ask_for_next(const depth_block& block, index panel, const array<index, 2>& rows,
                           tile_operands<Products>& operands) {
    const index next = panel + 1 < block.columns.panels ? panel + 1 : 0, column = block.columns.first_column(next);
    if (block.packs_panels || !block.right.is_packed(column)) return;
    const index width = block.columns.width(next), tiles = (rows[1] + tile::height - 1) / tile::height;
    operands.later = block.right.packed_at(column) + rows[0] / tile::height * block.steps / tiles * width;
    operands.later_step = width * static_cast<index>(sizeof(unit)) / tiles;
  }

  /// The tile of the first of `rows[1]` rows from `rows[0]` on.
  TENON_INLINE void run_tile(const depth_block& block, index panel, const array<index, 2>& rows,
                             tile_operands<Products>& operands, const result_rows<sum>& plain) const {
    const auto& part = block.part;
    const index row = rows[0], height = rows[1] > tile::step ? tile::height : tile::step;
    const index inner_rows = detail::least(height, rows[1]), width = block.columns.width(panel);
    const bool is_packed = block.left.is_packed(row);
    operands.left = block.left.at(row);
    operands.left_row = is_packed ? block.left.packed_line_step : block.left.line_step;
    operands.left_step = is_packed ? 1 : block.left.step;
    if (!block.is_first) {
      operands.before = block.sums_at(row, panel), operands.before_pitch = width;
      for (index i = 0; i < height * width; i += tile::lanes) __builtin_prefetch(operands.before + i);
    }
    if (!block.is_last) return multiply_tile(operands, height, width, block.sums_at(row, panel), width);
    if (plain.data != nullptr && inner_rows == height) {
      return multiply_tile(operands, height, width, plain.data + row * plain.pitch, plain.pitch);
    }
    alignas(64) sum results[tile::height * tile::width];
    multiply_tile(operands, height, width, results, width);
    const index column = block.columns.first_column(panel);
    epilogue.store_tile(part.row + row, part.column + column,
                        {{inner_rows, detail::least(width, part.columns - column)}}, results, width);
  }

  static constexpr index packing_grain = 32768;
};

namespace on_host {

/// Packed tiles, for every product that no algorithm before them takes.
struct packed_tiles {
  static constexpr const char* name = "packed tiles";
  template <class Problem>
  static constexpr bool can_take = true;
  static void run(const auto& problem) {
    problem.template run_engine<host_product>(problem.plain_left(), problem.plain_right(), problem.results());
  }
};

}  // namespace on_host

}  // namespace tenon
