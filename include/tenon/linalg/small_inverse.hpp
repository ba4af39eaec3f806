// tenon/linalg/small_inverse.hpp: the inverses of matrices of 2, 3 and 4 rows by their cofactors.
// One division and no choice of rows. Where the determinant's terms cancel, elimination is left to do it.
// Floor 7: may include base, linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/linalg/passes.hpp>

namespace tenon {

namespace detail {

/// The determinant as a sum of terms, and whether these leave enough of its digits; not where it is 0, infinite or NaN.
template <class T>
struct sum_of_terms {
  T sum = 0, magnitudes = 0;
  TENON_HOST_DEVICE void add(T term) { sum += term, magnitudes += std::fabs(term); }
  TENON_HOST_DEVICE bool is_accurate() const {
    return std::fabs(sum) * 64 > magnitudes && magnitudes <= std::numeric_limits<T>::max() / 64 &&
           std::fabs(sum) >= std::numeric_limits<T>::min();
  }
};

/// The inverse of `a` at `to`, another place. Whether it was made.
template <class T>
TENON_HOST_DEVICE TENON_INLINE bool invert_by_cofactors(const T* a, T* to, known_extent<2>) {
  sum_of_terms<T> determinant;
  determinant.add(a[0] * a[3]), determinant.add(-a[1] * a[2]);
  if (!determinant.is_accurate()) return false;
  const T scale = 1 / determinant.sum;
  to[0] = a[3] * scale, to[1] = -a[1] * scale, to[2] = -a[2] * scale, to[3] = a[0] * scale;
  return true;
}

template <class T>
TENON_HOST_DEVICE TENON_INLINE bool invert_by_cofactors(const T* a, T* to, known_extent<3>) {
  const T first = a[4] * a[8] - a[5] * a[7], second = a[5] * a[6] - a[3] * a[8], third = a[3] * a[7] - a[4] * a[6];
  sum_of_terms<T> determinant;
  determinant.add(a[0] * first), determinant.add(a[1] * second), determinant.add(a[2] * third);
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

/// Pairs of rows: six minors of the upper two, six of the lower two.
/// source    Laplace's expansion along two rows
template <class T>
TENON_HOST_DEVICE TENON_INLINE bool invert_by_cofactors(const T* a, T* to, known_extent<4>) {
  const auto minor = [a](int row, int left, int right) {
    return a[row * 4 + left] * a[row * 4 + 4 + right] - a[row * 4 + right] * a[row * 4 + 4 + left];
  };
  const T u01 = minor(0, 0, 1), u02 = minor(0, 0, 2), u03 = minor(0, 0, 3), u12 = minor(0, 1, 2), u13 = minor(0, 1, 3),
          u23 = minor(0, 2, 3), l01 = minor(2, 0, 1), l02 = minor(2, 0, 2), l03 = minor(2, 0, 3), l12 = minor(2, 1, 2),
          l13 = minor(2, 1, 3), l23 = minor(2, 2, 3);
  sum_of_terms<T> determinant;
  determinant.add(u01 * l23), determinant.add(-u02 * l13), determinant.add(u03 * l12);
  determinant.add(u12 * l03), determinant.add(-u13 * l02), determinant.add(u23 * l01);
  if (!determinant.is_accurate()) return false;
  const T scale = 1 / determinant.sum;
  to[0] = (a[5] * l23 - a[6] * l13 + a[7] * l12) * scale;
  to[1] = (a[2] * l13 - a[1] * l23 - a[3] * l12) * scale;
  to[2] = (a[13] * u23 - a[14] * u13 + a[15] * u12) * scale;
  to[3] = (a[10] * u13 - a[9] * u23 - a[11] * u12) * scale;
  to[4] = (a[6] * l03 - a[4] * l23 - a[7] * l02) * scale;
  to[5] = (a[0] * l23 - a[2] * l03 + a[3] * l02) * scale;
  to[6] = (a[14] * u03 - a[12] * u23 - a[15] * u02) * scale;
  to[7] = (a[8] * u23 - a[10] * u03 + a[11] * u02) * scale;
  to[8] = (a[4] * l13 - a[5] * l03 + a[7] * l01) * scale;
  to[9] = (a[1] * l03 - a[0] * l13 - a[3] * l01) * scale;
  to[10] = (a[12] * u13 - a[13] * u03 + a[15] * u01) * scale;
  to[11] = (a[9] * u03 - a[8] * u13 - a[11] * u01) * scale;
  to[12] = (a[5] * l02 - a[4] * l12 - a[6] * l01) * scale;
  to[13] = (a[0] * l12 - a[1] * l02 + a[2] * l01) * scale;
  to[14] = (a[13] * u02 - a[12] * u12 - a[14] * u01) * scale;
  to[15] = (a[8] * u12 - a[9] * u02 + a[10] * u01) * scale;
  return true;
}

}  // namespace detail

}  // namespace tenon
