// tenon/contraction/pack.hpp: operands of the host product in the order in which its inner loop reads them.
// A panel holds, for each unit of k, a few neighbouring rows or columns; prologues are evaluated on the way.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <tenon/contraction/host_arithmetic.hpp>
#include <tenon/device/simd_transpose.hpp>
#include <tenon/plan/write.hpp>

namespace tenon {

/// A part of a matrix: rows and columns from `row` and `column` on.
struct matrix_part {
  index row, rows;
  index column, columns;
};

namespace detail {

constexpr index round_up(index count, index unit) { return (count + unit - 1) / unit * unit; }
constexpr index least(index left, index right) { return left < right ? left : right; }

/// Values `first` to `first + count` - 1 of a cursor, side by side from `to` on.
template <class T, class Cursor>
TENON_INLINE void copy_run(const Cursor& cursor, index first, index count, T* to) {
  write_run<reading::strided>(target_run{to - first}, {{first, first + count}}, cursor, no_slots{});
}

/// `count` adjacent elements.
template <class T>
TENON_INLINE void copy_elements(const T* from, index count, T* to) {
  constexpr int lanes = simd::native_width<T>;
  index j = 0;
  for (; j + lanes <= count; j += lanes) {
    __builtin_prefetch(from + j + elements_ahead<T>);
    simd::store<lanes>(to + j, simd::load<T, lanes>(from + j));
  }
  if (j < count) {
    __builtin_prefetch(from + j + elements_ahead<T>);
    simd::store_part<lanes>(to + j, simd::load_part<T, lanes>(from + j, count - j), count - j);
  }
}

template <class T>
TENON_INLINE void fill_zeros(T* to, index count) {
  constexpr int lanes = simd::native_width<T>;
  for (index j = 0; j < count; j += lanes) simd::store_part<lanes>(to + j, simd::pack<T, lanes>{}, count - j);
}

/// How many of the places `from`, `from` + step, ... lie before `place`.
constexpr index steps_until(index from, index place, index step) {
  if (place <= from) return 0;
  return step == 1 ? place - from : (place - from + step - 1) / step;
}

/// The elements along an axis that a tap sees: `count` of them from `first` on, `step` apart. Of the windows that
/// are asked for, number `to` sees the first, and each `to_step` further on the next.
struct seen_run {
  index first = 0, step = 1, count = 0, to = 0, to_step = 1;
};

/// What tap `tap` of the windows `window`, ..., `window + count - 1` sees along an axis.
template <int Rank>
seen_run find_seen(const patch_geometry<Rank>& geometry, index tap, index window, index count, int axis = Rank - 1) {
  const index stride = geometry.stride[axis], image_step = geometry.image_step[axis];
  const index common = image_step == 1 ? 1 : std::gcd(stride, image_step);
  const index spread = window * stride + tap * geometry.dilation[axis] - geometry.padding[axis];
  seen_run run{0, stride / common, 0, steps_until(spread, 0, stride), image_step / common};
  while (run.to < count && image_step != 1 && (spread + run.to * stride) % image_step != 0) ++run.to;
  if (run.to >= count) return run;
  run.first = (spread + run.to * stride) / image_step;
  run.count = least(steps_until(run.first, geometry.image[axis], run.step), steps_until(run.to, count, run.to_step));
  return run;
}

/// Copies the elements that a tap sees to the places of the windows from `to` on; `cursor` runs along the axis.
template <int Rank, class T, class Cursor>
TENON_INLINE void copy_seen(const Cursor& cursor, const seen_run& run, T* to) {
  if (run.to_step == 1) {
    using memory_cursor = strided_cursor<T>;
    if constexpr (std::is_same_v<Cursor, memory_cursor>) {
      const memory_cursor seen{cursor.data + run.first * cursor.stride, run.step * cursor.stride};
      if (seen.stride == 1) return copy_elements(seen.data, run.count, to + run.to);
      return copy_run(seen, 0, run.count, to + run.to);
    }
    if (run.step == 1 && run.count > 0) return copy_run(cursor, run.first, run.count, to + run.to);
  }
  for (index j = 0; j < run.count; ++j) {
    to[run.to + j * run.to_step] = static_cast<T>(cursor.value(run.first + j * run.step, no_slots{}));
  }
}

/// The values of row (c, r, s) for `count` windows from number `column` on.
template <class T, class Program, int Rank, int GroupAxis>
TENON_INLINE void copy_patch_row(const patch_matrix<Program, Rank, GroupAxis>& patches, index row, index column,
                                 index count, T* to) {
  const auto& geometry = patches.geometry;
  array<index, Rank> tap{}, window{};
  for (int axis = Rank - 1; axis >= 0; --axis) {
    tap[axis] = row % geometry.kernel[axis], row /= geometry.kernel[axis];
    window[axis] = column % geometry.output[axis], column /= geometry.output[axis];
  }
  array<index, Rank + 3> position{};
  position[0] = patches.group, position[1] = column, position[2] = row;
  while (count > 0) {
    const index length = least(geometry.output[Rank - 1] - window[Rank - 1], count);
    bool inside = true;
    for (int axis = 0; axis < Rank - 1; ++axis) {
      position[3 + axis] = geometry.place(axis, window[axis], tap[axis]);
      inside = inside && position[3 + axis] >= 0;
    }
    if (inside) {
      const seen_run run = find_seen(geometry, tap[Rank - 1], window[Rank - 1], length);
      fill_zeros(to, run.to_step == 1 && run.count > 0 ? run.to : length);
      copy_seen<Rank>(patches.program.at(position), run, to);
      if (run.to_step == 1 && run.count > 0) fill_zeros(to + run.to + run.count, length - run.to - run.count);
    } else {
      std::fill(to, to + length, T(0));
    }
    count -= length, to += length, window[Rank - 1] = 0;
    int axis = Rank - 2;
    for (; axis >= 0 && ++window[axis] == geometry.output[axis]; --axis) window[axis] = 0;
    if (axis < 0) ++position[1];
  }
}

/// `count` elements of a row from `column` on, side by side from `to` on.
template <class T, class Program, int Rank, class Axes>
void copy_row(const folded_matrix<Program, Rank, Axes>& matrix, index row, index column, index count, T* to) {
  if constexpr (std::is_same_v<memory_element_of<folded_matrix<Program, Rank, Axes>>, T>) {
    const auto memory = memory_of(matrix);
    if (memory.data != nullptr && memory.column_step == 1) {
      std::memcpy(to, memory.at(row, column), static_cast<std::size_t>(count) * sizeof(T));
      return;
    }
  }
  while (count > 0) {
    const index length = least(matrix.run_from(column), count);
    auto position = matrix.position(row, column);
    const index origin = position[Rank - 1];
    position[Rank - 1] = 0;
    copy_run(matrix.program.at(position), origin, length, to);
    column += length, to += length, count -= length;
  }
}
template <class T, class Program, int Rank, int GroupAxis>
void copy_row(const patch_matrix<Program, Rank, GroupAxis>& patches, index row, index column, index count, T* to) {
  copy_patch_row(patches, row, column, count, to);
}

/// The same of a column.
template <class T, class Program, int Rank, int GroupAxis>
void copy_column(const transposed_matrix<patch_matrix<Program, Rank, GroupAxis>>& patches, index column, index row,
                 index count, T* to) {
  copy_patch_row(patches.matrix, column, row, count, to);
}
template <class T, class U, int Rank, class Axes>
void copy_column(const folded_matrix<strided_source<U, Rank>, Rank, Axes>& matrix, index column, index row, index count,
                 T* to) {
  const U* from = memory_of(matrix).at(row, column);
  if constexpr (std::is_same_v<T, U>) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
  } else {
    copy_run(strided_cursor<U>{from, 1}, 0, count, to);
  }
}

/// Whether the elements of a column lie side by side, and those of a row do not.
template <class Matrix>
bool runs_along_columns(const Matrix& matrix) {
  if constexpr (!std::is_void_v<memory_element_of<Matrix>>) {
    const auto memory = memory_of(matrix);
    return memory.data != nullptr && memory.row_step == 1 && memory.column_step != 1;
  }
  return false;
}
template <class Program, int Rank, int GroupAxis>
bool runs_along_columns(const transposed_matrix<patch_matrix<Program, Rank, GroupAxis>>&) {
  return true;
}

/// `columns` columns of `length` elements as panels of `width`, in units. Column j is written side by side from element
/// `first` on by `fill(j, first, count, elements)`; what is beyond is 0.
template <class Element, class Unit, class Fill>
void pack_filled(index columns, index length, index width, Unit* to, const Fill& fill) {
  constexpr index group = sizeof(Unit) / sizeof(Element), block = 64, most = 3 * simd::native_width<Unit>;
  Unit units[most * block];
  for (index first = 0; first < length; first += block * group) {
    const index count = least(block * group, length - first), steps = (count + group - 1) / group;
    if (columns < width || count < steps * group) std::fill(units, units + width * block, Unit(0));
    for (index j = 0; j < columns; ++j) fill(j, first, count, reinterpret_cast<Element*>(units + j * block));
    simd::copy_matrix(to + first / group * width, units, {steps, width, 1, block, width});
  }
}

/// The unsigned integer of half as many bits.
template <class Unit>
using half_bits = std::conditional_t<sizeof(Unit) == 4, std::uint16_t, std::uint8_t>;

/// Lanes of units from rows of elements, `step` apart: an element of each row, the first row's in the lowest bits. Two
/// and two are joined, as compilers widen well to the double only.
template <class Unit, int Lanes, class Element>
TENON_INLINE simd::pack<Unit, Lanes> join_lanes(const Element* rows, index step) {
  simd::pack<Unit, Lanes> result;
  if constexpr (sizeof(Unit) == sizeof(Element)) {
    std::memcpy(&result, rows, sizeof(result));
  } else {
    constexpr index half = sizeof(Unit) / sizeof(Element) / 2;
    using wide = simd::pack<Unit, Lanes>;
    const auto low = join_lanes<half_bits<Unit>, Lanes>(rows, step);
    const auto high = join_lanes<half_bits<Unit>, Lanes>(rows + half * step, step);
    result = __builtin_convertvector(low, wide) | __builtin_convertvector(high, wide) << (4 * sizeof(Unit));
  }
  return result;
}

/// Rows of `width` elements, one for each element of a unit and `step` apart, as one row of units.
template <class Element, class Unit>
TENON_INLINE void join_rows(const Element* rows, index step, index width, Unit* to) {
  constexpr int lanes = simd::native_width<Unit>;
  for (index j = 0; j < width; j += lanes) simd::store<lanes>(to + j, join_lanes<Unit, lanes>(rows + j, step));
}

/// Rows of `width` elements in memory, `step` apart, as `count` rows of units. Rows to come are asked for: hardware
/// does not look ahead from one to the next.
template <class Element, class Unit>
void join_all_rows(const Element* from, index step, index width, index count, Unit* to) {
  constexpr index line = 64 / sizeof(Element), group = sizeof(Unit) / sizeof(Element), ahead = 16;
  for (index k = 0; k < count; ++k, from += group * step, to += width) {
    for (index i = 0; i < group; ++i) {
      for (index j = 0; j < width; j += line) __builtin_prefetch(from + (ahead + i) * step + j);
    }
    join_rows(from, step, width, to);
  }
}

/// The first columns of rows of numbers in memory, 0 in the others.
template <class T>
void copy_narrow_rows(const T* from, index step, const matrix_part& part, index width, T* to) {
  constexpr int lanes = simd::native_width<T>;
  for (index k = 0; k < part.rows; ++k, from += step, to += width) {
    for (index j = 0; j < width; j += lanes) {
      const index count = part.columns - j;
      simd::store<lanes>(to + j, count > 0 ? simd::load_part<T, lanes>(from + j, count) : simd::pack<T, lanes>{});
    }
  }
}

/// Rows of the right operand one unit of k after another.
template <class Products, class Matrix>
void pack_rows(const Matrix& matrix, const matrix_part& part, index width, typename Products::unit* to) {
  using element = typename Products::right_element;
  constexpr index group = Products::group, most = 3 * Products::lanes;
  index k = 0;
  if constexpr (std::is_same_v<memory_element_of<Matrix>, element>) {
    const auto memory = memory_of(matrix);
    if (memory.data != nullptr && memory.column_step == 1) {
      const element* from = memory.at(part.row, part.column);
      if (part.columns == width) {
        join_all_rows(from, memory.row_step, width, part.rows / group, to);
        k = part.rows / group * group;
      } else if constexpr (group == 1) {
        return copy_narrow_rows(from, memory.row_step, part, width, to);
      }
    }
  }
  for (; k < part.rows; k += group) {
    element rows[group][most] = {};
    for (index i = 0; i < least(group, part.rows - k); ++i) {
      copy_row(matrix, part.row + k + i, part.column, part.columns, rows[i]);
    }
    join_rows(rows[0], most, width, to + k / group * width);
  }
}

/// What the sums of a tile begin with: -128 times the sums of the `steps` rows of a packed panel of bytes, behind them.
template <class Products>
void append_shift(typename Products::unit* panel, index width, index steps) {
  using unit = typename Products::unit;
  constexpr int lanes = Products::lanes;
  for (index j = 0; j < width; j += lanes) {
    simd::pack<unit, lanes> sums{}, others{};  // two chains, as each waits for its last addition
    for (index k = 0; k < steps; k += 2) {
      sums = Products::add(sums, 0x01010101u, simd::load<unit, lanes>(panel + k * width + j));
      if (k + 1 < steps)
        others = Products::add(others, 0x01010101u, simd::load<unit, lanes>(panel + (k + 1) * width + j));
    }
    simd::store<lanes>(panel + steps * width + j, (sums + others) * -128u);
  }
}

}  // namespace detail

/// Rows of the left operand, in units of several k: unit k of row i is `to[i * pitch + k]`, 0 beyond the part in
/// `lines` rows.
template <class Products, class Matrix>
void pack_left(const Matrix& matrix, const matrix_part& part, index lines, typename Products::unit* to, index pitch) {
  using element = typename Products::left_element;
  using unit = typename Products::unit;
  const index steps = (part.columns + Products::group - 1) / Products::group;
  if constexpr (std::is_same_v<memory_element_of<Matrix>, unit>) {
    if (const auto memory = memory_of(matrix); memory.data != nullptr && memory.row_step == 1 && part.rows == lines) {
      return simd::copy_matrix(to, memory.at(part.row, part.column),
                               {part.rows, part.columns, 1, memory.column_step, pitch});
    }
  }
  for (index i = 0; i < lines; ++i, to += pitch) {
    if (i >= part.rows || steps * Products::group != part.columns) std::fill(to, to + steps, unit(0));
    if (i >= part.rows) continue;
    detail::copy_row(matrix, part.row + i, part.column, part.columns, reinterpret_cast<element*>(to));
    if constexpr (Products::shifts_left) {
      constexpr int lanes = simd::native_width<unit>;
      for (index k = 0; k < steps; k += lanes) {
        simd::store_part<lanes>(to + k, simd::load_part<unit, lanes>(to + k, steps - k) ^ 0x80808080u, steps - k);
      }
    }
  }
}

/// How many units a packed panel of `Width` columns of the right operand holds behind each other.
template <class Products>
constexpr index right_panel_rows(index steps) {
  return steps + (Products::shifts_left ? 1 : 0);
}

/// Columns of the right operand: `to[k * width + j]` is unit k of column j, 0 beyond the part; row `steps` is what sums
/// begin with, where the left operand is shifted. The width is that of one to three vectors.
template <class Products, class Matrix>
void pack_right(const Matrix& matrix, const matrix_part& part, index width, typename Products::unit* to) {
  using element = typename Products::right_element;
  if (detail::runs_along_columns(matrix)) {
    if constexpr (std::is_same_v<memory_element_of<Matrix>, typename Products::unit>) {
      if (part.columns == width) {
        const auto memory = memory_of(matrix);
        return simd::copy_matrix(to, memory.at(part.row, part.column),
                                 {part.rows, width, memory.row_step, memory.column_step, width});
      }
    }
    if constexpr (requires(element* elements) { detail::copy_column(matrix, 0, 0, 0, elements); }) {
      const auto fill = [&](index column, index first, index count, element* elements) {
        detail::copy_column(matrix, part.column + column, part.row + first, count, elements);
      };
      detail::pack_filled<element>(part.columns, part.rows, width, to, fill);
    }
  } else if constexpr (requires(element* elements) { detail::copy_row(matrix, 0, 0, 0, elements); }) {
    detail::pack_rows<Products>(matrix, part, width, to);
  }
  if constexpr (Products::shifts_left) {
    detail::append_shift<Products>(to, width, (part.rows + Products::group - 1) / Products::group);
  }
}

}  // namespace tenon
