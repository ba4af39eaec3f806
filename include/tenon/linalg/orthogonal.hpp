// tenon/linalg/orthogonal.hpp: reflections and rotations of one matrix where it lies in work memory.
// Householder's factors, and Jacobi's rotations for eigenvalues and singular values; vectors lie one after another.
// Floor 7: may include linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <tenon/linalg/passes.hpp>

namespace tenon {

namespace detail {

template <class T, class Extent>
TENON_HOST_DEVICE T inner_product(const T* left, const T* right, Extent length) {
  T sum = 0;
  for (index i = 0; i < length; ++i) sum += left[i] * right[i];
  return sum;
}

/// Scales elements by a power of two, so that squares of the greatest neither overflow nor vanish. What undoes it; NaN
/// where an element is not finite.
template <class T>
TENON_HOST_DEVICE T scale_to_unit(T* elements, index count) {
  T greatest = 0;
  for (index i = 0; i < count; ++i) {
    const T magnitude = std::fabs(elements[i]);
    if (!(magnitude <= float_limits<T>::greatest)) return float_limits<T>::nan;
    greatest = magnitude > greatest ? magnitude : greatest;
  }
  if (greatest == 0) return 1;
  int exponent = std::ilogb(greatest);
  constexpr int most = std::numeric_limits<T>::max_exponent - 2;
  exponent = exponent > most ? most : exponent < -most ? -most : exponent;
  const T scale = std::ldexp(T(1), -exponent);
  for (index i = 0; i < count; ++i) elements[i] *= scale;
  return std::ldexp(T(1), exponent);
}

/// Sums of squares below it have lost digits.
template <class T>
inline constexpr T least_square = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();

/// The reflections that make `columns` vectors of `length` elements a triangle R, each below R's diagonal, and their
/// factors. R is on and above the diagonal then.
/// source    Golub and Van Loan, Matrix Computations, algorithm 5.2.1
template <class T>
TENON_HOST_DEVICE void reflect_columns(T* columns, T* factors, index length, index count) {
  for (index j = 0; j < count && j < length; ++j) {
    T* const own = columns + j * length;
    const index below = length - j - 1;
    T first = own[j], rest = inner_product(own + j + 1, own + j + 1, below), unit = 1;
    if (rest < least_square<T>) {  // of a column that is tiny beside others
      unit = scale_to_unit(own + j, below + 1);
      first = own[j], rest = inner_product(own + j + 1, own + j + 1, below);
      own[j] *= unit;
    }
    factors[j] = 0;
    if (rest == 0) continue;
    const T norm = std::sqrt(first * first + rest), result = first > 0 ? -norm : norm;
    factors[j] = (result - first) / result;
    const T scale = 1 / (first - result);
    for (index i = j + 1; i < length; ++i) own[i] *= scale;
    own[j] = result * unit;
    for (index other = j + 1; other < count; ++other) {
      T* const vector = columns + other * length;
      const T share = factors[j] * (vector[j] + inner_product(own + j + 1, vector + j + 1, below));
      vector[j] -= share;
      for (index i = j + 1; i < length; ++i) vector[i] -= share * own[i];
    }
  }
}

/// The first `count` columns of the product of reflections.
template <class T>
TENON_HOST_DEVICE void unfold_reflections(const T* columns, const T* factors, T* result, index length, index count) {
  for (index i = 0; i < length * count; ++i) result[i] = i / length == i % length ? T(1) : T(0);
  for (index j = count - 1; j >= 0; --j) {
    const T* const own = columns + j * length;
    for (index other = j; other < count; ++other) {
      T* const vector = result + other * length;
      const T share = factors[j] * (vector[j] + inner_product(own + j + 1, vector + j + 1, length - j - 1));
      vector[j] -= share;
      for (index i = j + 1; i < length; ++i) vector[i] -= share * own[i];
    }
  }
}

/// A rotation that makes two numbers independent.
template <class T>
struct plane_rotation {
  T tangent, sine, bend;  // bend: sine / (1 + cosine)

  /// Of the symmetric matrix [first, mixed; mixed, second], by the smaller of two angles.
  TENON_HOST_DEVICE static plane_rotation between(T first, T mixed, T second) {
    const T ratio = (second - first) / (2 * mixed);
    const T root = std::sqrt(1 + ratio * ratio);
    const T tangent = ratio >= 0 ? 1 / (ratio + root) : 1 / (ratio - root);
    const T cosine = 1 / std::sqrt(1 + tangent * tangent);
    return {tangent, tangent * cosine, tangent * cosine / (1 + cosine)};
  }
  template <class Extent>
  TENON_HOST_DEVICE void turn(T* left, T* right, Extent length) const {
    for (index i = 0; i < length; ++i) {
      const T x = left[i], y = right[i];
      left[i] = x - sine * (y + bend * x);
      right[i] = y + sine * (x - bend * y);
    }
  }
};

/// How often every pair of rows is turned at most; about ten times are enough.
inline constexpr int most_sweeps = 60;

template <class T, class Extent>
TENON_HOST_DEVICE void identity_rows(T* rows, Extent n) {
  for (index i = 0; i < n * n; ++i) rows[i] = i / n == i % n ? T(1) : T(0);
}

/// Makes a symmetric matrix of magnitudes near 1 diagonal by rotations, row after row; `vectors` get its eigenvectors.
/// source    Golub and Van Loan, Matrix Computations, algorithm 8.5.3
template <class T, class Extent>
TENON_HOST_DEVICE void rotate_symmetric(T* a, T* vectors, Extent n) {
  constexpr T negligible = float_limits<T>::epsilon / 8;
  identity_rows(vectors, n);
  bool is_done = false;
  for (int sweep = 0; sweep < most_sweeps && !is_done; ++sweep) {
    is_done = true;
    for (index p = 0; p < n; ++p) {
      for (index q = p + 1; q < n; ++q) {
        const T mixed = a[p * n + q], first = a[p * n + p], second = a[q * n + q];
        if (std::fabs(mixed) <= negligible) continue;
        is_done = false;
        const auto rotation = plane_rotation<T>::between(first, mixed, second);
        rotation.turn(a + p * n, a + q * n, n);
        a[p * n + p] = first - rotation.tangent * mixed, a[q * n + q] = second + rotation.tangent * mixed;
        a[p * n + q] = a[q * n + p] = 0;
        for (index i = 0; i < n; ++i) a[i * n + p] = a[p * n + i], a[i * n + q] = a[q * n + i];
        rotation.turn(vectors + p * n, vectors + q * n, n);
      }
    }
  }
}

/// What singular vectors are made of: vectors of `length` elements, and `count` others of `count` elements.
template <class T>
struct rotated_vectors {
  T *vectors, *partners;
  index length, count;
  T negligible;  // the square of a norm

  /// Turns vectors until all of them are orthogonal, and their partners with them.
  /// source    Hestenes, Inversion of matrices by biorthogonalization and related results (1958)
  TENON_HOST_DEVICE void rotate() const {
    identity_rows(partners, count);
    bool is_done = false;
    for (int sweep = 0; sweep < most_sweeps && !is_done; ++sweep) {
      is_done = true;
      for (index p = 0; p < count; ++p) {
        for (index q = p + 1; q < count; ++q) is_done = !turn(p, q) && is_done;
      }
    }
  }
  TENON_HOST_DEVICE bool turn(index p, index q) const {
    constexpr T least_cosine = 4 * float_limits<T>::epsilon;
    T *const left = vectors + p * length, *const right = vectors + q * length;
    const T first = inner_product(left, left, length), second = inner_product(right, right, length);
    const T mixed = inner_product(left, right, length);
    if (first <= negligible || second <= negligible) return false;
    if (std::fabs(mixed) <= least_cosine * std::sqrt(first) * std::sqrt(second)) return false;
    const auto rotation = plane_rotation<T>::between(first, mixed, second);
    rotation.turn(left, right, length);
    rotation.turn(partners + p * count, partners + q * count, count);
    return true;
  }
  /// Makes vector `i` one of length 1, orthogonal to those before it, where it is too short to say a direction.
  TENON_HOST_DEVICE void complete(index i) const {
    T* const own = vectors + i * length;
    for (index candidate = 0; candidate < length; ++candidate) {
      for (index k = 0; k < length; ++k) own[k] = k == candidate ? T(1) : T(0);
      for (index step = 0; step < 2 * i; ++step) {
        const T* const other = vectors + step % i * length;
        const T share = inner_product(own, other, length);
        for (index k = 0; k < length; ++k) own[k] -= share * other[k];
      }
      const T square = inner_product(own, own, length);
      if (2 * square * static_cast<T>(length) < 1) continue;
      const T scale = 1 / std::sqrt(square);
      for (index k = 0; k < length; ++k) own[k] *= scale;
      return;
    }
  }
};

/// Brings numbers in order, and two sets of vectors with them; there may be one set alone.
template <class T>
struct numbered_vectors {
  T *numbers, *vectors, *partners;
  index length, partner_length, count;

  TENON_HOST_DEVICE void sort(bool is_descending) const {
    for (index i = 0; i < count; ++i) {
      index chosen = i;
      for (index j = i + 1; j < count; ++j) {
        if (is_descending ? numbers[j] > numbers[chosen] : numbers[j] < numbers[chosen]) chosen = j;
      }
      if (chosen == i) continue;
      swap(numbers + i, numbers + chosen, 1);
      swap(vectors + i * length, vectors + chosen * length, length);
      if (partners != nullptr) swap(partners + i * partner_length, partners + chosen * partner_length, partner_length);
    }
  }
  TENON_HOST_DEVICE static void swap(T* left, T* right, index elements) {
    for (index i = 0; i < elements; ++i) {
      const T kept = left[i];
      left[i] = right[i], right[i] = kept;
    }
  }
};

}  // namespace detail

}  // namespace tenon
