// tenon/expr/operations/exponential.hpp: exponentials, logarithms, roots.
// Integers are taken to float.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_math.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// e to the power x.
struct exp_op : floating_result {
  static constexpr const char* name = "exp";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::exp(x);
  }
};
inline constexpr pointwise_function<exp_op> exp;

/// Natural logarithm.
struct log_op : floating_result {
  static constexpr const char* name = "log";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::log(x);
  }
};
inline constexpr pointwise_function<log_op> log;

/// Square root.
struct sqrt_op : floating_result {
  static constexpr const char* name = "sqrt";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::sqrt(x);
  }
};
inline constexpr pointwise_function<sqrt_op> sqrt;

/// 1 / sqrt(x).
struct rsqrt_op : floating_result {
  static constexpr const char* name = "rsqrt";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::constant_like<V>(1) / simd::sqrt(x);
  }
};
inline constexpr pointwise_function<rsqrt_op> rsqrt;

}  // namespace tenon
