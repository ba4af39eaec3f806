// tenon/expr/operations/hyperbolic.hpp: hyperbolic functions and their inverses.
// Integers are taken to float.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_hyperbolic.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

struct cosh_op;
struct rsqrt_op;
struct square_op;

/// Hyperbolic sine.
struct sinh_op : floating_result {
  static constexpr const char* name = "sinh";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::sinh(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) { return g * apply_op<cosh_op>(x); }
};
TENON_FUNCTION_OBJECT pointwise_function<sinh_op> sinh;

/// Hyperbolic cosine.
struct cosh_op : floating_result {
  static constexpr const char* name = "cosh";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::cosh(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) { return g * apply_op<sinh_op>(x); }
};
TENON_FUNCTION_OBJECT pointwise_function<cosh_op> cosh;

/// Hyperbolic tangent.
struct tanh_op : floating_result {
  static constexpr const char* name = "tanh";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::tanh(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto&) {
    return g * (1 - apply_op<square_op>(y));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<tanh_op> tanh;

/// Inverse of sinh.
struct asinh_op : floating_result {
  static constexpr const char* name = "asinh";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::asinh(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g * apply_op<rsqrt_op>(apply_op<square_op>(x) + 1);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<asinh_op> asinh;

/// The inverse of cosh that is not negative; NaN where x < 1.
struct acosh_op : floating_result {
  static constexpr const char* name = "acosh";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::acosh(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g * apply_op<rsqrt_op>(apply_op<square_op>(x) - 1);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<acosh_op> acosh;

/// Inverse of tanh; NaN where |x| > 1.
struct atanh_op : floating_result {
  static constexpr const char* name = "atanh";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::atanh(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g / (1 - apply_op<square_op>(x));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<atanh_op> atanh;

}  // namespace tenon
