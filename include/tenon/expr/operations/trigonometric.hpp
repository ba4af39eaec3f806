// tenon/expr/operations/trigonometric.hpp: trigonometric functions and their inverses.
// Angles are in radians; integers are taken to float.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_trigonometric.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

struct cos_op;
struct rsqrt_op;
struct square_op;
struct where_op;

/// Sine.
struct sin_op : floating_result {
  static constexpr const char* name = "sin";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::sin(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) { return g * apply_op<cos_op>(x); }
};
TENON_FUNCTION_OBJECT pointwise_function<sin_op> sin;

/// Cosine.
struct cos_op : floating_result {
  static constexpr const char* name = "cos";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::cos(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) { return -(g * apply_op<sin_op>(x)); }
};
TENON_FUNCTION_OBJECT pointwise_function<cos_op> cos;

/// Tangent.
struct tan_op : floating_result {
  static constexpr const char* name = "tan";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::tan(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto&) {
    return g * (1 + apply_op<square_op>(y));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<tan_op> tan;

/// The angle in [-pi/2, pi/2] whose sine is x; NaN where |x| > 1.
struct asin_op : floating_result, batchwise<asin_op> {
  static constexpr const char* name = "asin";
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE static constexpr T number(T x) {
    using std::asin;
    return asin(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g * apply_op<rsqrt_op>(1 - apply_op<square_op>(x));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<asin_op> asin;

/// The angle in [0, pi] whose cosine is x; NaN where |x| > 1.
struct acos_op : floating_result, batchwise<acos_op> {
  static constexpr const char* name = "acos";
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE static constexpr T number(T x) {
    using std::acos;
    return acos(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return -(g * apply_op<rsqrt_op>(1 - apply_op<square_op>(x)));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<acos_op> acos;

/// The angle in [-pi/2, pi/2] whose tangent is x.
struct atan_op : floating_result, batchwise<atan_op> {
  static constexpr const char* name = "atan";
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE static constexpr T number(T x) {
    using std::atan;
    return atan(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g / (1 + apply_op<square_op>(x));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<atan_op> atan;

/// The angle in [-pi, pi] of the point (x, y), y first.
struct atan2_op : floating_result, lanewise<atan2_op> {
  static constexpr const char* name = "atan2";
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE static constexpr T number(T y, T x) {
    return std::atan2(y, x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x, const auto& z) {
    return g * share(z, x);
  }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto& x, const auto& z) {
    return -(g * share(x, z));
  }

 private:
  /// One coordinate by the square of the distance; 0 of the point that has no angle, as in PyTorch.
  static auto share(const auto& of, const auto& beside) {
    const auto squares = apply_op<square_op>(of) + apply_op<square_op>(beside);
    return apply_op<where_op>(squares == 0, 0, of / squares);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<atan2_op> atan2;

}  // namespace tenon
