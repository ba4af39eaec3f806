// tenon/expr/operations/rounding.hpp: whole numbers near a number.
// Integers are whole already and stay as they are; results keep the element type.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_rounding.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// The greatest whole number that is not above x.
struct floor_op : promoting {
  static constexpr const char* name = "floor";
  using flat = void;
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::rounded<simd::rounding::down>(x);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<floor_op> floor;

/// The least whole number that is not below x.
struct ceil_op : promoting {
  static constexpr const char* name = "ceil";
  using flat = void;
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::rounded<simd::rounding::up>(x);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<ceil_op> ceil;

/// x without its fraction.
struct trunc_op : promoting {
  static constexpr const char* name = "trunc";
  using flat = void;
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::rounded<simd::rounding::towards_zero>(x);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<trunc_op> trunc;

/// The nearest whole number, the even one of two as near, as in NumPy and PyTorch: 0.5 gives 0, 1.5 and 2.5 give 2.
struct round_op : promoting {
  static constexpr const char* name = "round";
  using flat = void;
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::rounded<simd::rounding::nearest_even>(x);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<round_op> round;
TENON_FUNCTION_OBJECT pointwise_function<round_op> rint;  ///< NumPy's name of it

/// x - trunc(x), which has the sign of x. It is 0 for integers and NaN for infinities.
struct frac_op : promoting {
  static constexpr const char* name = "frac";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return static_cast<V>(x - trunc_op::value(x));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto&) { return g; }
};
TENON_FUNCTION_OBJECT pointwise_function<frac_op> frac;

}  // namespace tenon
