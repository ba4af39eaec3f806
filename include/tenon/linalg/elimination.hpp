// tenon/linalg/elimination.hpp: factors of one matrix, by elimination, where it lies in work memory.
// Rows lie one after another. Extents are numbers or types that know them, so that loops over small ones unroll.
// Floor 7: may include base, linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <tenon/linalg/passes.hpp>

namespace tenon {

namespace detail {

/// The least magnitude of a pivot. Subnormal ones, whose reciprocals may be infinite, are for loops that divide.
template <bool Divides, class T>
inline constexpr T least_pivot = Divides ? std::numeric_limits<T>::denorm_min() : float_limits<T>::least;

/// The Cholesky factor on and below the diagonal, in place; what is above it stays. The diagonal holds reciprocals
/// where `Reciprocal`. The number of the first pivot that is not positive, or -1.
template <bool Reciprocal, class T, class Extent>
TENON_HOST_DEVICE TENON_INLINE index factor_cholesky(T* a, Extent n) {
  for (index j = 0; j < n; ++j) {
    T pivot = a[j * n + j];
    for (index k = 0; k < j; ++k) pivot -= a[j * n + k] * a[j * n + k];
    if (!(pivot > 0)) return j;
    pivot = std::sqrt(pivot);
    const T scale = 1 / pivot;
    a[j * n + j] = Reciprocal ? scale : pivot;
    for (index i = j + 1; i < n; ++i) {
      T value = a[i * n + j];
      for (index k = 0; k < j; ++k) value -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = value * scale;
    }
  }
  return -1;
}

/// What the diagonal of a factor holds.
enum class diagonal_kind : unsigned char { pivots, reciprocals, ones };

/// Which elements of a factor a substitution reads, and how.
struct substitution {
  bool is_upper = false, is_transposed = false;
  diagonal_kind diagonal = diagonal_kind::pivots;
  double least_share = 0;  ///< of an upper factor of orthogonal columns: pivots are above that share of their column
};

/// The number of the first column whose pivot is no more than rounding left of it, or -1.
template <class T, class Extent>
TENON_HOST_DEVICE index first_dependent(const T* a, Extent n, T least_share) {
  for (index j = 0; j < n; ++j) {
    T greatest = 0;
    for (index i = 0; i <= j; ++i) greatest = std::fmax(greatest, std::fabs(a[i * n + j]));
    if (!(std::fabs(a[j * n + j]) > least_share * greatest)) return j;
  }
  return -1;
}

/// b = a^-1 b for the triangle of a that `how` names. The number of the first pivot that is too small, or -1.
template <bool Divides = false, class T, class Extent, class Columns>
TENON_HOST_DEVICE TENON_INLINE index substitute(const T* a, T* b, Extent n, Columns columns, substitution how) {
  const index row = how.is_transposed ? 1 : n, column = how.is_transposed ? n : 1;
  const bool is_backward = how.is_upper != how.is_transposed;
  for (index step = 0; step < n; ++step) {
    const index i = is_backward ? n - 1 - step : step;
    for (index before = 0; before < step; ++before) {
      const index k = is_backward ? n - 1 - before : before;
      const T factor = a[i * row + k * column];
      for (index j = 0; j < columns; ++j) b[i * columns + j] -= factor * b[k * columns + j];
    }
    if (how.diagonal == diagonal_kind::ones) continue;
    const T pivot = a[i * n + i];
    if (std::fabs(pivot) < least_pivot<Divides, T>) return i;
    if constexpr (Divides) {
      for (index j = 0; j < columns; ++j) b[i * columns + j] /= pivot;
      continue;
    }
    const T scale = how.diagonal == diagonal_kind::reciprocals ? pivot : 1 / pivot;
    for (index j = 0; j < columns; ++j) b[i * columns + j] *= scale;
  }
  return -1;
}

/// The same, unless a column depends on those before it.
template <bool Divides, class T, class Extent, class Columns>
TENON_HOST_DEVICE index substitute_factor(const T* a, T* b, Extent n, Columns columns, substitution how) {
  const index dependent = first_dependent(a, n, static_cast<T>(how.least_share));
  return dependent >= 0 ? dependent : substitute<Divides>(a, b, n, columns, how);
}

/// The row, from `k` on, whose element of column `k` is greatest.
template <class T, class Extent>
TENON_HOST_DEVICE TENON_INLINE index greatest_below(const T* a, Extent n, index k) {
  index chosen = k;
  T greatest = std::fabs(a[k * n + k]);
  for (index i = k + 1; i < n; ++i) {
    const T value = std::fabs(a[i * n + k]);
    if (value > greatest) greatest = value, chosen = i;
  }
  return chosen;
}

template <class T, class Extent>
TENON_HOST_DEVICE TENON_INLINE void swap_rows(T* a, Extent columns, index one, index other) {
  for (index j = 0; j < columns; ++j) {
    const T kept = a[one * columns + j];
    a[one * columns + j] = a[other * columns + j];
    a[other * columns + j] = kept;
  }
}

/// The factor U of PA = LU on and above the diagonal, with b = L^-1 P b; the factor L is not kept. `swaps` counts rows
/// that changed places. The number of the first pivot that is too small or NaN, or -1.
template <bool Divides = false, class T, class Extent, class Columns>
TENON_HOST_DEVICE TENON_INLINE index eliminate(T* a, T* b, Extent n, Columns columns, index& swaps) {
  for (index k = 0; k < n; ++k) {
    const index chosen = greatest_below(a, n, k);
    if (chosen != k) swap_rows(a, n, k, chosen), swap_rows(b, columns, k, chosen), ++swaps;
    const T pivot = a[k * n + k];
    if (!(std::fabs(pivot) >= least_pivot<Divides, T>)) return k;
    const T scale = 1 / pivot;
    for (index i = k + 1; i < n; ++i) {
      const T factor = Divides ? a[i * n + k] / pivot : a[i * n + k] * scale;
      for (index j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      for (index j = 0; j < columns; ++j) b[i * columns + j] -= factor * b[k * columns + j];
    }
  }
  return -1;
}

/// The inverse in place, by Gauss and Jordan. `places` get the rows that changed places: a number of a row is exact in
/// T below 2^24. The number of the first pivot that is 0 or NaN, or -1.
template <class T, class Extent>
TENON_HOST_DEVICE TENON_INLINE index invert(T* a, T* places, Extent n) {
  for (index k = 0; k < n; ++k) {
    const index chosen = greatest_below(a, n, k);
    places[k] = static_cast<T>(chosen);
    if (chosen != k) swap_rows(a, n, k, chosen);
    const T pivot = a[k * n + k];
    if (!(std::fabs(pivot) > 0)) return k;
    const T scale = 1 / pivot;
    a[k * n + k] = 1;
    for (index j = 0; j < n; ++j) a[k * n + j] *= scale;
    for (index i = 0; i < n; ++i) {
      if (i == k) continue;
      const T factor = a[i * n + k];
      a[i * n + k] = 0;
      for (index j = 0; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  for (index k = n - 1; k >= 0; --k) {
    const index chosen = static_cast<index>(places[k]);
    if (chosen == k) continue;
    for (index i = 0; i < n; ++i) {
      const T kept = a[i * n + k];
      a[i * n + k] = a[i * n + chosen];
      a[i * n + chosen] = kept;
    }
  }
  return -1;
}

}  // namespace detail

}  // namespace tenon
