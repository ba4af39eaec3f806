// tenon/expr/operations/complex.hpp: complex numbers as elements, on the host and emulated devices.
// Included by name, before any tensor of them: the standard header costs every statement's compile time.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// Sums, products, quotients, ==, abs, exp, and sums and means of elements take them; reals among them are promoted.
template <>
inline constexpr bool is_complex<std::complex<float>> = true;
template <>
inline constexpr bool is_complex<std::complex<double>> = true;

/// As promoting, with the parts' type as result.
struct real_result : promoting {
  template <class... Operands>
  using element = real_type<promoted_element<Operands...>>;
};

/// x with the opposite imaginary part; real numbers stay.
struct conj_op : promoting {
  static constexpr const char* name = "conj";
  template <class V>
  static V value(V x) {
    if constexpr (is_complex<V>) {
      return std::conj(x);
    } else {
      return x;
    }
  }
};
inline constexpr pointwise_function<conj_op> conj;

/// Real part of complex numbers.
struct real_op : real_result {
  static constexpr const char* name = "real";
  template <class T>
  static T value(std::complex<T> x) {
    return x.real();
  }
};
inline constexpr pointwise_function<real_op> real;

/// Imaginary part of complex numbers.
struct imag_op : real_result {
  static constexpr const char* name = "imag";
  template <class T>
  static T value(std::complex<T> x) {
    return x.imag();
  }
};
inline constexpr pointwise_function<imag_op> imag;

/// The angle of complex numbers, in [-pi, pi].
struct arg_op : real_result {
  static constexpr const char* name = "arg";
  template <class T>
  static T value(std::complex<T> x) {
    return std::arg(x);
  }
};
inline constexpr pointwise_function<arg_op> arg;

}  // namespace tenon
