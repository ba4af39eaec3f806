// tenon/linalg/few_rows.hpp: systems of one to four rows, by elimination whose loops are written out.
// Every element has a number that the compiler knows, so that matrix and right side stay in registers.
// Floor 7: may include base, linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/array.hpp>
#include <tenon/linalg/elimination.hpp>

namespace tenon {

namespace detail {

/// Whether a system is solved by `solve_few_rows`. Kernels unroll the loops of `eliminate`.
template <class Extent, class Columns>
inline constexpr bool has_few_rows = false;
template <index N, index Columns>
inline constexpr bool has_few_rows<known_extent<N>, known_extent<Columns>> =
    !compiled_by_nvcc && N <= 4 && Columns <= 4;

/// Copies a matrix, as `load_matrix` does.
template <class From, class T, index N, index Columns>
TENON_INLINE void load_few_rows(const matrix_elements<From>& from, T* to, known_extent<N>, known_extent<Columns>) {
  for_each_index<N>([&](auto row) __attribute__((always_inline)) {
    for_each_index<Columns>([&](auto column) __attribute__((always_inline)) {
      to[row.value * Columns + column.value] = from(row.value, column.value);
    });
  });
}

/// Where `condition`, two rows change places.
template <index Count, class T>
TENON_INLINE void exchange_where(bool condition, T* one, T* other) {
  for_each_index<Count>([&](auto column) __attribute__((always_inline)) {
    const T kept = one[column.value];
    one[column.value] = condition ? other[column.value] : kept;
    other[column.value] = condition ? kept : other[column.value];
  });
}

/// row -= factor * other
template <index Count, class T>
TENON_INLINE void subtract_multiple(T* row, T factor, const T* other) {
  for_each_index<Count>([&](auto column)
                            __attribute__((always_inline)) { row[column.value] -= factor * other[column.value]; });
}

/// b = a^-1 b by elimination with a choice of rows: `eliminate` and `substitute` in one. The number of the first pivot
/// that is too small or NaN, or -1; what follows it is computed, and of no use.
template <bool Divides, class T, index N, index Columns>
TENON_INLINE index solve_few_rows(T* a, T* b, known_extent<N>, known_extent<Columns>) {
  index failed = -1;
  T scales[N];
  for_each_index<N>([&](auto step) __attribute__((always_inline)) {
    constexpr index k = step.value;
    for_each_index<N - 1 - k>([&](auto below) __attribute__((always_inline)) {
      constexpr index i = k + 1 + below.value;
      const bool is_greater = std::fabs(a[i * N + k]) > std::fabs(a[k * N + k]);
      exchange_where<N>(is_greater, a + k * N, a + i * N);
      exchange_where<Columns>(is_greater, b + k * Columns, b + i * Columns);
    });
    const T pivot = a[k * N + k];
    if (!(std::fabs(pivot) >= least_pivot<Divides, T>) && failed < 0) failed = k;
    scales[k] = 1 / pivot;
    for_each_index<N - 1 - k>([&](auto below) __attribute__((always_inline)) {
      constexpr index i = k + 1 + below.value;
      const T factor = Divides ? a[i * N + k] / pivot : a[i * N + k] * scales[k];
      subtract_multiple<N>(a + i * N, factor, a + k * N);
      subtract_multiple<Columns>(b + i * Columns, factor, b + k * Columns);
    });
  });
  for_each_index<N>([&](auto step) __attribute__((always_inline)) {
    constexpr index i = N - 1 - step.value;
    for_each_index<step.value>([&](auto before) __attribute__((always_inline)) {
      constexpr index k = N - 1 - before.value;
      subtract_multiple<Columns>(b + i * Columns, a[i * N + k], b + k * Columns);
    });
    for_each_index<Columns>([&](auto column) __attribute__((always_inline)) {
      T& value = b[i * Columns + column.value];
      value = Divides ? value / a[i * N + i] : value * scales[i];
    });
  });
  return failed;
}

}  // namespace detail

}  // namespace tenon
