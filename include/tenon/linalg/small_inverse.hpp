// tenon/linalg/small_inverse.hpp: the inverses and determinants of matrices of 2, 3 and 4 rows by their cofactors.
// One division and no choice of rows. Where the determinant's terms cancel, elimination is left to do it.
// Floor 7: may include base, device, linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/device/simd_transpose.hpp>
#include <tenon/linalg/passes.hpp>

#if defined(__clang__)
#pragma clang diagnostic push  // vectors pass between functions that are one by then, so no binary interface changes
#pragma clang diagnostic ignored "-Wpsabi"
#endif

namespace tenon {

namespace detail {

/// The determinant as a sum of terms, and whether these leave enough of its digits; not where it is 0, tiny or NaN.
template <class T>
struct sum_of_terms {
  T sum, magnitudes;
  template <class... Terms>
  TENON_HOST_DEVICE explicit sum_of_terms(T first, Terms... rest)
      : sum((first + ... + rest)), magnitudes((std::fabs(first) + ... + std::fabs(rest))) {}
  TENON_HOST_DEVICE bool is_accurate() const { return std::fabs(sum) * 64 > magnitudes + 64 * float_limits<T>::least; }
};

template <class T>
TENON_HOST_DEVICE TENON_INLINE sum_of_terms<T> determinant_by_cofactors(const T* a, known_extent<2>) {
  return sum_of_terms<T>(a[0] * a[3], -a[1] * a[2]);
}
template <class T>
TENON_HOST_DEVICE TENON_INLINE sum_of_terms<T> determinant_by_cofactors(const T* a, known_extent<3>) {
  return sum_of_terms<T>(a[0] * (a[4] * a[8] - a[5] * a[7]), a[1] * (a[5] * a[6] - a[3] * a[8]),
                         a[2] * (a[3] * a[7] - a[4] * a[6]));
}
/// By the minors of the upper two rows, and those of the lower two in the other columns.
template <class T>
TENON_HOST_DEVICE TENON_INLINE sum_of_terms<T> determinant_by_cofactors(const T* a, known_extent<4>) {
  const auto minor = [a](int row, int i, int j) { return a[row + i] * a[row + 4 + j] - a[row + j] * a[row + 4 + i]; };
  const auto term = [&](int i, int j, int k, int l) { return minor(0, i, j) * minor(8, k, l); };
  return sum_of_terms<T>(term(0, 1, 2, 3), term(0, 2, 3, 1), term(0, 3, 1, 2), term(1, 2, 0, 3), term(1, 3, 2, 0),
                         term(2, 3, 0, 1));
}

/// The inverse of `a` at `to`, another place. Whether it was made.
template <class T>
TENON_HOST_DEVICE TENON_INLINE bool invert_by_cofactors(const T* a, T* to, known_extent<2>) {
  const auto determinant = determinant_by_cofactors(a, known_extent<2>{});
  if (!determinant.is_accurate()) return false;
  const T scale = 1 / determinant.sum;
  to[0] = a[3] * scale, to[1] = -a[1] * scale, to[2] = -a[2] * scale, to[3] = a[0] * scale;
  return true;
}

template <class T>
TENON_HOST_DEVICE TENON_INLINE bool invert_by_cofactors(const T* a, T* to, known_extent<3>) {
  const T first = a[4] * a[8] - a[5] * a[7], second = a[5] * a[6] - a[3] * a[8], third = a[3] * a[7] - a[4] * a[6];
  const sum_of_terms<T> determinant(a[0] * first, a[1] * second, a[2] * third);
  if (!determinant.is_accurate()) return false;
  const T scale = 1 / determinant.sum;
  to[0] = first * scale, to[3] = second * scale, to[6] = third * scale;
  to[1] = (a[2] * a[7] - a[1] * a[8]) * scale;
  to[4] = (a[0] * a[8] - a[2] * a[6]) * scale;
  to[7] = (a[1] * a[6] - a[0] * a[7]) * scale;
  to[2] = (a[1] * a[5] - a[2] * a[4]) * scale;
  to[5] = (a[2] * a[3] - a[0] * a[5]) * scale;
  to[8] = (a[0] * a[4] - a[1] * a[3]) * scale;
  return true;
}

#if !defined(__CUDACC__)
/// Three columns of the rest of a row, for each column that is left out.
template <class V>
struct other_columns {
  V first, second, third;

  TENON_INLINE explicit other_columns(V row)
      : first(__builtin_shufflevector(row, row, 1, 0, 0, 0)),
        second(__builtin_shufflevector(row, row, 2, 2, 1, 1)),
        third(__builtin_shufflevector(row, row, 3, 3, 3, 2)) {}
  TENON_INLINE other_columns(V one, V two, V three) : first(one), second(two), third(three) {}
  /// The minors of this row and another one: of the second and third column, the first and third, the first and second.
  TENON_INLINE other_columns minors(const other_columns& lower) const {
    return {second * lower.third - third * lower.second, first * lower.third - third * lower.first,
            first * lower.second - second * lower.first};
  }
  /// The determinants of this row and two others of these minors, signs apart.
  TENON_INLINE V expand(const other_columns& minors) const {
    return first * minors.first - second * minors.second + third * minors.third;
  }
};

/// The host computes four cofactors at a time.
template <class T>
TENON_INLINE bool invert_by_cofactors(const T* a, T* to, known_extent<4>) {
  using row = simd::pack<T, 4>;
  const row top = simd::load<T, 4>(a);
  const other_columns<row> zero(top), one(simd::load<T, 4>(a + 4)), two(simd::load<T, 4>(a + 8)),
      three(simd::load<T, 4>(a + 12));
  const auto upper = zero.minors(one), lower = two.minors(three);
  const row even{1, -1, 1, -1}, first = one.expand(lower) * even;
  const row terms = top * first;
  const sum_of_terms<T> determinant(terms[0], terms[1], terms[2], terms[3]);
  if (!determinant.is_accurate()) return false;
  const row scale = even * (1 / determinant.sum);
  row columns[4] = {first * (1 / determinant.sum), -zero.expand(lower) * scale, three.expand(upper) * scale,
                    -two.expand(upper) * scale};
  simd::detail::transpose_blocks<2>(columns);
  for (int place = 0; place < 4; ++place) simd::store<4>(to + 4 * place, columns[place]);
  return true;
}

/// Rows as vectors of the host, and the rows of the matrix from which they came.
template <class T, int N>
struct packed_rows {
  static constexpr int width = N > 4 ? 8 : 4;
  using row = simd::pack<T, width>;
  row rows[N];
  int origins[N];

  /// One step of Gauss and Jordan with the greatest pivot. Whether there is one that is not 0 or NaN.
  template <int K>
  TENON_INLINE bool eliminate(constant<K>) {
    int chosen = K;
    T greatest = std::fabs(rows[K][K]);
    for (int i = K + 1; i < N; ++i) {
      const T magnitude = std::fabs(rows[i][K]);
      chosen = magnitude > greatest ? i : chosen;
      greatest = magnitude > greatest ? magnitude : greatest;
    }
    row pivot = rows[chosen];  // changes places with itself, too: a branch would often be guessed wrong
    const int origin = origins[chosen];
    rows[chosen] = rows[K], origins[chosen] = origins[K];
    const T scale = 1 / pivot[K];
    pivot[K] = 1;
    pivot *= scale;
    for (int i = 0; i < N; ++i) {
      const T factor = rows[i][K];
      row rest = rows[i];
      rest[K] = 0;
      rows[i] = rest - factor * pivot;
    }
    rows[K] = pivot, origins[K] = origin;
    return greatest > 0;
  }
};

/// The host's inverse of 5 to 8 rows: unrolled, and without branches but where a pivot is missing.
template <class T, index N>
  requires(N > 4)
TENON_INLINE bool invert_by_packs(const matrix_elements<const T>& from, const auto& to, known_extent<N>) {
  packed_rows<T, static_cast<int>(N)> all;
  for (int i = 0; i < N; ++i) {
    all.rows[i] = typename packed_rows<T, static_cast<int>(N)>::row{};
    for (int j = 0; j < N; ++j) all.rows[i][j] = from(i, j);
    all.origins[i] = i;
  }
  bool is_regular = true;
  for_each_index<static_cast<int>(N)>([&](auto k) { is_regular = is_regular && all.eliminate(k); });
  if (!is_regular) return false;
  using element = std::remove_reference_t<decltype(to(0, 0))>;
  for (int i = 0; i < N; ++i) {
    T row[packed_rows<T, static_cast<int>(N)>::width];
    simd::store<packed_rows<T, static_cast<int>(N)>::width>(row, all.rows[i]);
    for (int j = 0; j < N; ++j) to(i, all.origins[j]) = static_cast<element>(row[j]);
  }
  return true;
}
#endif

}  // namespace detail

}  // namespace tenon

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
