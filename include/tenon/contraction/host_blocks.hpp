// tenon/contraction/host_blocks.hpp: how a product of the host is cut into blocks.
// Blocks of both operands are packed once for all threads, or read where they lie, as sizes and caches suggest.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host_tile.hpp>
#include <tenon/contraction/pack.hpp>
#include <tenon/device/caches.hpp>
#include <tenon/device/scratch.hpp>
#include <tenon/device/threads.hpp>

namespace tenon {

/// Rows and columns of a product that are one piece of work, and how many products each result sums.
struct product_part {
  index row, rows, column, columns, depth;
};

/// How large the blocks are. Only blocks of k change the order of additions, so they follow from the extents; the other
/// blocks follow from the caches.
template <class Products>
struct product_blocks {
  using tile = host_tile<Products>;
  using unit = typename Products::unit;
  static constexpr index unit_bytes = sizeof(unit);
  static constexpr index most_steps = 4096 / unit_bytes, most_columns = 1056, most_rows = 1024;
  static_assert(most_columns % tile::width == 0 && most_rows % tile::height == 0);

  /// Elements of k in a block: the fewest blocks that are short enough, of nearly equal size.
  static constexpr index depth(index whole) {
    const index most = most_steps * Products::group, blocks = (whole + most - 1) / most;
    return blocks == 0 ? 1 : detail::round_up((whole + blocks - 1) / blocks, Products::group);
  }
  /// Rows that are multiplied with one panel of columns after another: half of the second cache.
  static index rows(index steps) {
    const index fit = caches().second / 2 / ((steps == 0 ? 1 : steps) * unit_bytes) / tile::height * tile::height;
    return fit < tile::height ? tile::height : detail::least(fit, 512 / tile::height * tile::height);
  }
  /// Whether a left operand in memory is read where it lies: along rows always, along columns where it stays in the
  /// second cache, as it is read from one page after another.
  static bool reads_in_place(const matrix_memory<unit>& left, const product_part& part) {
    if (left.data == nullptr) return false;
    constexpr index few_pages = 512 * 1024;
    return left.column_step == 1 ||
           part.rows * part.depth * unit_bytes <= detail::least(caches().second / 2, few_pages);
  }
  /// Whether the first tile that reads a panel of the right operand copies it, so that nothing is packed beforehand. It
  /// pays where each panel is copied once, or where the operand is in the second cache anyway.
  static bool copies_on_reading(const matrix_memory<unit>& right, const product_part& part, index steps) {
    if (right.data == nullptr || right.column_step != 1) return false;
    return part.rows <= rows(steps) || part.columns * part.depth * unit_bytes <= caches().second;
  }
};

/// A block of an operand. Lines are rows on the left and columns on the right. Lines before `first_packed` are read
/// where they lie, the others are packed.
template <class Unit>
struct operand_block {
  const Unit* data = nullptr;
  index line_step = 0, step = 1;  // from line to line, and from unit to unit of k
  Unit* packed = nullptr;
  index first_packed = 0, packed_line_step = 0;

  bool is_packed(index line) const { return line >= first_packed; }
  Unit* packed_at(index line) const { return packed + (line - first_packed) * packed_line_step; }
  const Unit* at(index line) const { return is_packed(line) ? packed_at(line) : data + line * line_step; }
};

/// `count` columns in panels as wide as a tile. The last panel may be narrower; where it would have a single vector,
/// the last two are.
template <class Products>
struct column_panels {
  using tile = host_tile<Products>;
  index count, panels, last, before_last;  // columns, panels, and the widths of the last two

  constexpr explicit column_panels(index columns)
      : count(columns), panels((columns + tile::width - 1) / tile::width), last(0), before_last(tile::width) {
    last = detail::round_up(columns - (panels - 1) * tile::width, tile::lanes);
    if (last == tile::lanes && panels > 1) last = before_last = 2 * tile::lanes;
  }
  constexpr index first_column(index panel) const {
    return panel * tile::width - (panel + 1 == panels ? tile::width - before_last : 0);
  }
  constexpr index width(index panel) const {
    return panel + 1 == panels ? last : panel + 2 == panels ? before_last : tile::width;
  }
  constexpr index padded() const { return first_column(panels - 1) + last; }
};

namespace detail {

/// Multiply-adds that are worth another thread: a few times what a parallel loop costs.
inline constexpr index multiplying_grain = index{1} << 18;

/// How many threads so many multiply-adds are worth.
inline index threads_for(index products) {
  const index worth = products / multiplying_grain;
  return worth < 2 ? 1 : least(worth, thread_count());
}

/// A distance of rows of `count` units that spreads them over the sets of a cache.
template <class Unit>
constexpr index conflict_free_pitch(index count) {
  constexpr index line = 64 / sizeof(Unit);
  return (count + line - 1) / line / 2 * 2 * line + line;
}

}  // namespace detail

}  // namespace tenon
