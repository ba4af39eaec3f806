// tenon/expr/operations/special.hpp: the error, gamma and digamma functions.
// Integers are taken to float.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_special.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// Error function: 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
struct erf_op : floating_result {
  static constexpr const char* name = "erf";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::erf(x);
  }
};
inline constexpr pointwise_function<erf_op> erf;

/// 1 - erf(x), exact where erf is near 1.
struct erfc_op : floating_result, lanewise<erfc_op> {
  static constexpr const char* name = "erfc";
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE static T number(T x) {
    return std::erfc(x);
  }
};
inline constexpr pointwise_function<erfc_op> erfc;

/// Gamma function: (x - 1)! of whole numbers; NaN at negative ones.
struct gamma_op : floating_result, lanewise<gamma_op> {
  static constexpr const char* name = "gamma";
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE static T number(T x) {
    return std::tgamma(x);
  }
};
inline constexpr pointwise_function<gamma_op> gamma;

/// log(|gamma(x)|); infinite at 0 and negative whole numbers.
struct lgamma_op : floating_result, lanewise<lgamma_op> {
  static constexpr const char* name = "lgamma";
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE static T number(T x) {
    return std::lgamma(x);
  }
};
inline constexpr pointwise_function<lgamma_op> lgamma;

/// Derivative of lgamma; NaN at negative whole numbers, infinite at 0 with the sign of -x.
struct digamma_op : floating_result, lanewise<digamma_op> {
  static constexpr const char* name = "digamma";
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE static T number(T x) {
    return simd::digamma(x);
  }
};
inline constexpr pointwise_function<digamma_op> digamma;

}  // namespace tenon
