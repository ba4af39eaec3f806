// tenon/contraction/host_panels.hpp: rows times weights that are packed once for many products.
// A panel holds all that a block of hidden units of a recurrence needs, every gate of it, in the order of use.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <tenon/contraction/matrix_memory.hpp>
#include <tenon/device/simd_partial.hpp>
#include <tenon/device/simd_transpose.hpp>
#include <tenon/device/threads.hpp>

namespace tenon {

/// Weights [gates * units, depth] in panels. Element k of a panel is `vectors` packs, one for each gate. Where there is
/// a single gate, a panel has several packs of its units, so that sums do not wait for each other.
template <class T, int Gates>
struct panel_layout {
  static constexpr int gates = Gates, packs = Gates == 1 ? 4 : 1, vectors = Gates * packs;
  static constexpr int lanes = simd::native_width<T>;
  static constexpr index panel_units = lanes * packs, width = vectors * lanes;
#if defined(__AVX512F__) || defined(__aarch64__)
  static constexpr int registers = 32;
#else
  static constexpr int registers = 16;
#endif
  /// Rows that are multiplied with a panel at once. Their sums stay in registers, beside a pack of each vector.
  static constexpr int most_rows = std::min(8, (registers - vectors - 1) / vectors);

  index units, depth;

  index panels() const { return (units + panel_units - 1) / panel_units; }
  index size() const { return panels() * depth * width; }

  /// Places behind the last unit hold zeros.
  void pack(const matrix_memory<T>& weight, T* packed) const {
    parallel_for(panels(), 1 + 65536 / (depth * width + 1), [&](index first, index last) {
      for (index number = first; number < last; ++number) {
        T* const to = packed + number * depth * width;
        if ((number + 1) * panel_units > units) std::fill(to, to + depth * width, T(0));
        for (int vector = 0; vector < vectors; ++vector) {
          const index unit = number * panel_units + vector % packs * lanes;
          const index count = std::min<index>(lanes, units - unit);
          const T* const from = weight.at(vector / packs * units + unit, 0);
          if (count > 0) {
            simd::copy_matrix(to + vector * lanes, from, {depth, count, weight.column_step, weight.row_step, width});
          }
        }
      }
    });
  }
};

/// Rows, whose elements lie side by side, and the packed weights that they are multiplied with.
template <class T>
struct panel_operand {
  const T* packed;
  index depth;
  const T* rows;
  index row_step;
};

/// Products whose sums are added: first of one operand, then of the next.
template <class T>
struct panel_operands {
  panel_operand<T> each[2];
  int count;
};

namespace detail {

/// Tiles of so many rows have time to ask for what later ones read. Lower ones wait for memory anyway.
inline constexpr int asking_rows = 4;

/// A panel, the one after it, and the part of the latter that a tile of rows asks for: number `share` of `shares`.
struct panel_and_next {
  index panel, next, share, shares;
};

/// sums[row] = all rows number `first + row` times their panels.
template <class Layout, int Rows, class T>
[[gnu::noinline]] void multiply_panel(const panel_operands<T>& operands, const panel_and_next& at, index first,
                                      T* sums) {
  constexpr int lanes = Layout::lanes, vectors = Layout::vectors;
  simd::pack<T, lanes> totals[Rows][vectors] = {};
  for (int number = 0; number < operands.count; ++number) {
    const panel_operand<T>& operand = operands.each[number];
    const T* const from = operand.packed + at.panel * operand.depth * Layout::width;
    const T* const rows = operand.rows + first * operand.row_step;
    const index next_step = at.next * operand.depth + at.share * operand.depth / at.shares;
    auto later = reinterpret_cast<const char*>(operand.packed + next_step * Layout::width);
    const index later_step = Layout::width * static_cast<index>(sizeof(T)) / at.shares;
    for (index k = 0; k < operand.depth; ++k, later += later_step) {
      if constexpr (Rows >= asking_rows) __builtin_prefetch(later, 0, 2);
      simd::pack<T, lanes> weights[vectors];
      TENON_UNROLL(8)
      for (int vector = 0; vector < vectors; ++vector) {
        weights[vector] = simd::load<T, lanes>(from + k * Layout::width + vector * lanes);
      }
      TENON_UNROLL(8)
      for (int row = 0; row < Rows; ++row) {
        const T factor = rows[row * operand.row_step + k];
        TENON_UNROLL(8)
        for (int vector = 0; vector < vectors; ++vector) totals[row][vector] += factor * weights[vector];
      }
    }
  }
  TENON_UNROLL(8)
  for (int row = 0; row < Rows; ++row) {
    TENON_UNROLL(8)
    for (int vector = 0; vector < vectors; ++vector) {
      simd::store<lanes>(sums + (row * vectors + vector) * lanes, totals[row][vector]);
    }
  }
}

/// For `count` rows, `Rows` at most.
template <class Layout, int Rows, class T>
void multiply_panel_rows(const panel_operands<T>& operands, const panel_and_next& at, array<index, 2> rows, T* sums) {
  if constexpr (Rows > 1) {
    if (rows[1] - rows[0] < Rows) return multiply_panel_rows<Layout, Rows - 1>(operands, at, rows, sums);
  }
  multiply_panel<Layout, Rows>(operands, at, rows[0], sums);
}

}  // namespace detail

/// Multiplies `count` rows with the panels `part[0]` to `part[1] - 1`. For each row and panel it calls
/// `finish.prefetch(row, first unit)`, then `finish(row, first unit, sums)`. Where `is_reversed`, it goes from the last
/// panel to the first: the second of two products in opposite order finds in cache what the first read last.
template <class Layout, class T, class Finish>
void multiply_panels(const panel_operands<T>& operands, index count, const array<index, 2>& part, bool is_reversed,
                     const Finish& finish) {
  constexpr index most = Layout::most_rows;
  alignas(64) T sums[most * Layout::width];
  const index tiles = (count + most - 1) / most;
  for (index i = part[0]; i < part[1]; ++i) {
    const index panel = is_reversed ? part[0] + part[1] - 1 - i : i, unit = panel * Layout::panel_units;
    const index next = i + 1 == part[1] ? panel : is_reversed ? panel - 1 : panel + 1;
    for (index tile = 0; tile < tiles; ++tile) {
      const index first = count * tile / tiles, end = count * (tile + 1) / tiles;
      for (index row = first; row < end; ++row) finish.prefetch(row, unit);
      detail::multiply_panel_rows<Layout, static_cast<int>(most)>(operands, {panel, next, tile, tiles}, {{first, end}},
                                                                  sums);
      for (index row = first; row < end; ++row) finish(row, unit, sums + (row - first) * Layout::width);
    }
  }
}

}  // namespace tenon
