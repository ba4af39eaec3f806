// tenon/contraction/packed_panels.hpp: a right operand packed whole, and products with parts of it.
// Where many small products share an operand, it is packed once; a product then takes some of its rows and panels.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host_blocks.hpp>
#include <tenon/device/threads.hpp>

namespace tenon {

/// A matrix in panels of columns as wide as tiles, one behind the other.
template <class Products>
struct packed_panels {
  using unit = typename Products::unit;
  column_panels<Products> columns;
  index rows;
  unit* packed;

  /// Packs a matrix into the workspace number `Purpose` of the calling thread.
  template <int Purpose, class Matrix>
  static packed_panels of(const Matrix& matrix, index rows, index columns) {
    const column_panels<Products> lines(columns);
    unit* const to = detail::product_workspace<unit, Purpose>(lines.padded() * rows);
    parallel_for(lines.panels, 1 + 32768 / (host_tile<Products>::width * rows + 1), [&](index first, index last) {
      for (index panel = first; panel < last; ++panel) {
        const index column = lines.first_column(panel), width = lines.width(panel);
        pack_right<Products>(matrix, {0, rows, column, detail::least(width, columns - column)}, width,
                             to + column * rows);
      }
    });
    return {lines, rows, to};
  }
  const unit* at(index panel, index row) const {
    return packed + columns.first_column(panel) * rows + row * columns.width(panel);
  }
};

/// A left operand as it lies: `lines` of them, in whole steps of a tile's height.
template <class Unit>
struct left_lines {
  const Unit* data;
  index line_step, step, lines;
};

/// Rows of a packed operand: `count` from `first` on.
struct packed_rows {
  index first, count;
};

/// Where sums go; with those that are there already, if they are added.
template <class Sum>
struct sum_rows {
  Sum* data;
  index pitch;
  bool adds = false;
};

/// The products of lines with the panels `panels[0]` to `panels[1]` - 1 of a packed operand, of which the first begins
/// at column 0 of the sums.
template <class Products>
void multiply_panels(const packed_panels<Products>& right, const array<index, 2>& panels,
                     const left_lines<typename Products::unit>& left, const packed_rows& depth,
                     const sum_rows<typename Products::sum>& sums) {
  using tile = host_tile<Products>;
  const index begin = right.columns.first_column(panels[0]);
  for (index panel = panels[0]; panel < panels[1]; ++panel) {
    const index width = right.columns.width(panel);
    auto* to = sums.data + (right.columns.first_column(panel) - begin);
    tile_operands<Products> operands{left.data,  right.at(panel, depth.first), left.line_step, left.step, width,
                                     depth.count};
    operands.before_pitch = sums.pitch;
    for (index line = 0; line < left.lines; line += tile::height) {
      const index height = left.lines - line > tile::step ? tile::height : tile::step;
      if (sums.adds) operands.before = to;
      multiply_tile(operands, height, width, to, sums.pitch);
      operands.left += tile::height * operands.left_row, to += tile::height * sums.pitch;
    }
  }
}

}  // namespace tenon
