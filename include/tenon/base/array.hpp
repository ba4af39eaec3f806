// tenon/base/array.hpp: a fixed array and compile-time loops.
// std::array is host-only under nvcc, so what programs carry to a device is built on this one.
// Floor 0: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <tenon/base/config.hpp>
#include <utility>

namespace tenon {

/// Positions, extents and strides; strides count elements, not bytes.
using index = std::int64_t;

/// `N` values of type `T`; an aggregate, usable in kernels and in constant expressions.
template <class T, int N>
struct array {
  T values[N];

  TENON_HOST_DEVICE constexpr T& operator[](index i) { return values[i]; }
  TENON_HOST_DEVICE constexpr const T& operator[](index i) const { return values[i]; }
  TENON_HOST_DEVICE static constexpr int size() { return N; }
  TENON_HOST_DEVICE constexpr const T* begin() const { return values; }
  TENON_HOST_DEVICE constexpr const T* end() const { return values + N; }
  TENON_HOST_DEVICE constexpr T* begin() { return values; }
  TENON_HOST_DEVICE constexpr T* end() { return values + N; }
};

template <class T>
struct array<T, 0> {
  TENON_HOST_DEVICE constexpr T& operator[](index i) { return begin()[i]; }  // never called: there is no index
  TENON_HOST_DEVICE constexpr const T& operator[](index i) const { return begin()[i]; }
  TENON_HOST_DEVICE static constexpr int size() { return 0; }
  TENON_HOST_DEVICE constexpr const T* begin() const { return nullptr; }
  TENON_HOST_DEVICE constexpr const T* end() const { return nullptr; }
  TENON_HOST_DEVICE constexpr T* begin() { return nullptr; }
  TENON_HOST_DEVICE constexpr T* end() { return nullptr; }
};

/// Whether all elements are equal; arrays of no elements are.
template <class T, int N>
TENON_HOST_DEVICE constexpr bool operator==(const array<T, N>& left, const array<T, N>& right) {
  for (int i = 0; i < N; ++i) {
    if (!(left[i] == right[i])) return false;
  }
  return true;
}

/// The `N` values of `value` each.
template <int N, class T>
TENON_HOST_DEVICE constexpr array<T, N> filled_array(T value) {
  array<T, N> result{};
  for (int i = 0; i < N; ++i) result[i] = value;
  return result;
}

/// An integer that a type carries.
template <int I>
struct constant {
  static constexpr int value = I;
};

/// Calls `body(constant<0>{})` ... `body(constant<N - 1>{})`.
template <int N, class Body>
TENON_INLINE constexpr void for_each_index(Body&& body) {
  [&]<int... I>(std::integer_sequence<int, I...>)
      __attribute__((always_inline)) { (body(constant<I>{}), ...); }(std::make_integer_sequence<int, N>{});
}

}  // namespace tenon
