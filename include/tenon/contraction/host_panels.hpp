// tenon/contraction/host_panels.hpp: products of rows with weights that many products share, as the steps of a recurrence.
// Weights are packed once: a panel holds all that a block of hidden units needs, every gate of it, in the order of use.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <tenon/contraction/matrix_memory.hpp>
#include <tenon/device/simd_partial.hpp>
#include <tenon/device/simd_transpose.hpp>
#include <tenon/device/threads.hpp>

namespace tenon {

/// Weights [Gates * units, depth] in panels. Element k of a panel is `vectors` packs: of each gate those of its units.
/// Of a single gate a panel has several packs of units, so that sums do not wait for each other.
template <class T, int Gates>
struct panel_layout {
  static constexpr int lanes = simd::native_width<T>, packs = Gates == 1 ? 4 : 1, vectors = Gates * packs;
  static constexpr index panel_units = lanes * packs, width = vectors * lanes;
#if defined(__AVX512F__) || defined(__aarch64__)
  static constexpr int registers = 32;
#else
  static constexpr int registers = 16;
#endif
  /// Rows that are multiplied with a panel at once: their sums stay in registers, beside a pack of each vector.
  static constexpr int most_rows = std::min(8, (registers - vectors - 1) / vectors);

  index units, depth;

  index panels() const { return (units + panel_units - 1) / panel_units; }
  index size() const { return panels() * depth * width; }
  const T* panel(const T* packed, index number) const { return packed + number * depth * width; }

  /// Units that do not exist get zeros.
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

namespace detail {

/// sums[row] = rows[row] times the panel.
template <class Layout, int Rows, class T>
[[gnu::noinline]] void multiply_panel(const Layout& layout, const T* panel, const matrix_memory<T>& rows, T* sums) {
  constexpr int lanes = Layout::lanes, vectors = Layout::vectors;
  simd::pack<T, lanes> totals[Rows][vectors] = {};
  const T* row_starts[Rows];
  for (int row = 0; row < Rows; ++row) row_starts[row] = rows.at(row, 0);
  for (index k = 0; k < layout.depth; ++k) {
    simd::pack<T, lanes> weights[vectors];
    TENON_UNROLL(8)
    for (int vector = 0; vector < vectors; ++vector) {
      weights[vector] = simd::load<T, lanes>(panel + k * Layout::width + vector * lanes);
    }
    TENON_UNROLL(8)
    for (int row = 0; row < Rows; ++row) {
      TENON_UNROLL(8)
      for (int vector = 0; vector < vectors; ++vector) totals[row][vector] += row_starts[row][k] * weights[vector];
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

template <class Layout, int Rows, class T>
void multiply_panel_rows(int count, const Layout& layout, const T* panel, const matrix_memory<T>& rows, T* sums) {
  if constexpr (Rows == 1) {
    multiply_panel<Layout, 1>(layout, panel, rows, sums);
  } else if (count == Rows) {
    multiply_panel<Layout, Rows>(layout, panel, rows, sums);
  } else {
    multiply_panel_rows<Layout, Rows - 1>(count, layout, panel, rows, sums);
  }
}

}  // namespace detail

/// Multiplies `count` rows, whose elements lie side by side, with the panels `first` to `last` - 1, and calls
/// `finish(row, first unit, sums)` for each row and panel. From the last panel to the first where `is_reversed`: of
/// two products in opposite order, the second finds in cache what the first read last.
template <class Layout, class T, class Finish>
void multiply_panels(const Layout& layout, const T* packed, const array<index, 2>& part, bool is_reversed,
                     const matrix_memory<T>& rows, index count, const Finish& finish) {
  constexpr index most = Layout::most_rows;
  alignas(64) T sums[most * Layout::width];
  const index tiles = (count + most - 1) / most;
  for (index i = part[0]; i < part[1]; ++i) {
    const index number = is_reversed ? part[0] + part[1] - 1 - i : i;
    for (index tile = 0; tile < tiles; ++tile) {
      const index row = count * tile / tiles, end = count * (tile + 1) / tiles;
      detail::multiply_panel_rows<Layout, static_cast<int>(most)>(
          static_cast<int>(end - row), layout, layout.panel(packed, number), {rows.at(row, 0), rows.row_step, 1}, sums);
      for (index each = row; each < end; ++each) {
        finish(each, number * Layout::panel_units, sums + (each - row) * Layout::width);
      }
    }
  }
}

}  // namespace tenon
