// tenon/contraction/pack.hpp: operands of the host product in the order in which its inner loop reads them.
// A panel holds, for each k, a few neighbouring rows or columns, padded with zeros; prologues are evaluated on the way.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/matrix.hpp>
#include <tenon/plan/write.hpp>

namespace tenon {

/// A part of a matrix: rows and columns from `row` and `column` on.
struct matrix_part {
  index row, rows;
  index column, columns;
};

namespace detail {

/// Calls `visit(cursor, origin, offset, length)` for the runs of one row; the cursor's `origin` is where a run begins.
template <class Matrix, class Visit>
TENON_INLINE void for_each_run(const Matrix& matrix, index row, index column, index count, Visit&& visit) {
  constexpr int rank = decltype(matrix.extents)::size();
  for (index offset = 0; offset < count;) {
    const index rest = count - offset, run = matrix.run_from(column + offset), length = run < rest ? run : rest;
    auto position = matrix.position(row, column + offset);
    const index origin = position[rank - 1];
    position[rank - 1] = 0;
    visit(matrix.program.at(position), origin, offset, length);
    offset += length;
  }
}

/// Values `first` to `first + count` - 1 of a cursor, side by side from `to` on.
template <class T, class Cursor>
TENON_INLINE void copy_run(const Cursor& cursor, index first, index count, T* to) {
  write_run<reading::strided>(target_run{to - first}, {{first, first + count}}, cursor, no_slots{});
}

/// Whether the columns of a folded matrix run along the last axis of its program.
template <class Matrix>
inline constexpr bool runs_along_last = false;
template <class Program, int Rank, class Axes>
inline constexpr bool runs_along_last<folded_matrix<Program, Rank, Axes>> =
    Axes::columns[Axes::columns.size() - 1] == Rank - 1;

}  // namespace detail

/// Rows of the left operand: `to[k * Height + i]` is row i.
template <int Height, class T, class Matrix>
void pack_left(const Matrix& matrix, const matrix_part& part, T* to) {
  static_assert(detail::runs_along_last<Matrix>);
  for (index i = 0; i < Height; ++i) {
    if (i >= part.rows) {
      for (index k = 0; k < part.columns; ++k) to[k * Height + i] = T(0);
      continue;
    }
    detail::for_each_run(matrix, part.row + i, part.column, part.columns,
                         [&](const auto& cursor, index origin, index offset, index length) {
                           T* from_here = to + offset * Height + i;
                           for (index j = 0; j < length; ++j) {
                             from_here[j * Height] = static_cast<T>(cursor.value(origin + j, no_slots{}));
                           }
                         });
  }
}

/// Columns of the right operand: `to[k * Width + j]` is column j.
template <int Width, class T, class Program, int Rank, class Axes>
void pack_right(const folded_matrix<Program, Rank, Axes>& matrix, const matrix_part& part, T* to) {
  for (index k = 0; k < part.rows; ++k, to += Width) {
    detail::for_each_run(matrix, part.row + k, part.column, part.columns,
                         [&](const auto& cursor, index origin, index offset, index length) {
                           detail::copy_run(cursor, origin, length, to + offset);
                         });
    for (index j = part.columns; j < Width; ++j) to[j] = T(0);
  }
}

namespace detail {

/// `count` values of one row of patches, for windows q, q + 1, ... of window row p; `step` elements apart in `to`.
template <class T, class Program>
TENON_INLINE void copy_patch_run(const patch_matrix<Program>& patches, const array<index, 4>& tap, index p, index q,
                                 const array<index, 2>& count_and_step, T* to) {
  const auto [n, c, r, s] = tap.values;
  const index count = count_and_step[0], step = count_and_step[1];
  const index y = patches.coordinate(0, p, r);
  if (y < 0) {
    for (index j = 0; j < count; ++j) to[j * step] = T(0);
    return;
  }
  const auto cursor = patches.program.at(array<index, 4>{{n, c, y, 0}});
  if (patches.geometry.stride[1] != 1 || patches.geometry.image_step[1] != 1) {
    for (index j = 0; j < count; ++j) {
      const index x = patches.coordinate(1, q + j, s);
      to[j * step] = x < 0 ? T(0) : static_cast<T>(cursor.value(x, no_slots{}));
    }
    return;
  }
  const index first = q + s - patches.geometry.padding[1];  // the column of the image that window q sees
  const index inside = first < 0 ? (-first < count ? -first : count) : 0;
  const index beyond = patches.image[3] - first < count ? patches.image[3] - first : count;
  index j = 0;
  for (; j < inside; ++j) to[j * step] = T(0);
  if (step == 1 && j < beyond) {
    copy_run(cursor, first + j, beyond - j, to + j);
    j = beyond;
  }
  for (; j < beyond; ++j) to[j * step] = static_cast<T>(cursor.value(first + j, no_slots{}));
  for (; j < count; ++j) to[j * step] = T(0);
}

/// The values of row (c, r, s) for `count` windows from number `window` on, `step` elements apart in `to`.
template <class T, class Program>
TENON_INLINE void copy_patch_row(const patch_matrix<Program>& patches, index row, index window, index count, index step,
                                 T* to) {
  const index s = row % patches.kernel[1], r = row / patches.kernel[1] % patches.kernel[0];
  const index c = row / (patches.kernel[1] * patches.kernel[0]);
  index q = window % patches.output[1], p = window / patches.output[1] % patches.output[0];
  index n = window / (patches.output[1] * patches.output[0]);
  while (count > 0) {
    const index rest = patches.output[1] - q, length = rest < count ? rest : count;
    copy_patch_run(patches, {{n, c, r, s}}, p, q, {{length, step}}, to);
    count -= length, to += length * step, q = 0;
    if (++p == patches.output[0]) p = 0, ++n;
  }
}

}  // namespace detail

/// Patches as the right operand: k is (c, r, s), columns are windows.
template <int Width, class T, class Program>
void pack_right(const patch_matrix<Program>& patches, const matrix_part& part, T* to) {
  for (index k = 0; k < part.rows; ++k, to += Width) {
    detail::copy_patch_row(patches, part.row + k, part.column, part.columns, 1, to);
    for (index j = part.columns; j < Width; ++j) to[j] = T(0);
  }
}

/// Patches as the right operand of a weight's gradient: k is the window, columns are (c, r, s).
template <int Width, class T, class Program>
void pack_right(const transposed_matrix<patch_matrix<Program>>& transposed, const matrix_part& part, T* to) {
  for (index j = 0; j < part.columns; ++j) {
    detail::copy_patch_row(transposed.matrix, part.column + j, part.row, part.rows, Width, to + j);
  }
  for (index j = part.columns; j < Width; ++j) {
    for (index k = 0; k < part.rows; ++k) to[k * Width + j] = T(0);
  }
}

}  // namespace tenon
