// tenon/expr/operations/complex.hpp: complex numbers as elements: std::complex, and thrust::complex under nvcc.
// Included by name, before any tensor of them: the standard header costs every statement's compile time.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>
#if defined(__CUDACC__)
#include <thrust/complex.h>
#endif

namespace tenon {

/// Sums, products, quotients, ==, abs, exp, log, sqrt, and sums and means of elements take them; reals among them are
/// promoted.
template <>
inline constexpr bool is_complex<std::complex<float>> = true;
template <>
inline constexpr bool is_complex<std::complex<double>> = true;
template <>
inline constexpr bool is_host_only<std::complex<float>> = true;
template <>
inline constexpr bool is_host_only<std::complex<double>> = true;

#if defined(__CUDACC__)
/// In files that nvcc compiles, on every space; `cast` turns one kind of complex numbers into the other.
template <>
inline constexpr bool is_complex<thrust::complex<float>> = true;
template <>
inline constexpr bool is_complex<thrust::complex<double>> = true;
#endif

/// As promoting, with the parts' type as result.
struct real_result : promoting {
  template <class... Operands>
  using element = real_type<promoted_element<Operands...>>;
};

/// x with the opposite imaginary part; real numbers stay.
struct conj_op : promoting {
  static constexpr const char* name = "conj";
  template <class V>
  TENON_HOST_DEVICE static constexpr V value(V x) {
    if constexpr (is_complex<V>) {
      return V(x.real(), -x.imag());
    } else {
      return x;
    }
  }
};
TENON_FUNCTION_OBJECT pointwise_function<conj_op> conj;

/// One part of complex numbers: the first is real.
template <int Part>
struct part_op : real_result {
  static constexpr const char* name = Part == 0 ? "real" : "imag";
  template <class V>
  TENON_HOST_DEVICE static constexpr real_type<V> value(V x) {
    if constexpr (Part == 0) return x.real();
    else return x.imag();
  }
#if !defined(__CUDACC__)
  /// Parts of numbers side by side: every other number in memory.
  template <int Width, class T>
    requires(Width > 1)
  TENON_INLINE static auto pack_of(const strided_cursor<std::complex<T>>& numbers, index i) {
    const T* const parts = reinterpret_cast<const T*>(numbers.data + i) + Part;
    return simd::load_apart<2, Width>(parts);
  }
#endif
};
/// Real part of complex numbers.
TENON_FUNCTION_OBJECT pointwise_function<part_op<0>> real;
/// Imaginary part of complex numbers.
TENON_FUNCTION_OBJECT pointwise_function<part_op<1>> imag;

/// The angle of complex numbers, in [-pi, pi].
struct arg_op : real_result {
  static constexpr const char* name = "arg";
  template <class V>
  TENON_HOST_DEVICE static constexpr real_type<V> value(V x) {
    return std::atan2(x.imag(), x.real());
  }
};
TENON_FUNCTION_OBJECT pointwise_function<arg_op> arg;

}  // namespace tenon
