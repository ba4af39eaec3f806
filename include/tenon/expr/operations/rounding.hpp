// tenon/expr/operations/rounding.hpp: whole numbers near a number.
// Integers are whole already and stay as they are; results keep the element type.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// The greatest whole number that is not above x.
struct floor_op : promoting, lanewise<floor_op> {
  static constexpr const char* name = "floor";
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE static T number(T x) {
    if constexpr (std::is_floating_point_v<T>) return std::floor(x);
    else return x;
  }
};
inline constexpr pointwise_function<floor_op> floor;

/// The least whole number that is not below x.
struct ceil_op : promoting, lanewise<ceil_op> {
  static constexpr const char* name = "ceil";
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE static T number(T x) {
    if constexpr (std::is_floating_point_v<T>) return std::ceil(x);
    else return x;
  }
};
inline constexpr pointwise_function<ceil_op> ceil;

/// x without its fraction.
struct trunc_op : promoting, lanewise<trunc_op> {
  static constexpr const char* name = "trunc";
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE static T number(T x) {
    if constexpr (std::is_floating_point_v<T>) return std::trunc(x);
    else return x;
  }
};
inline constexpr pointwise_function<trunc_op> trunc;

/// The nearest whole number, the even one of two as near, as in NumPy and PyTorch: 0.5 gives 0, 1.5 and 2.5 give 2.
struct round_op : promoting, lanewise<round_op> {
  static constexpr const char* name = "round";
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE static T number(T x) {
    if constexpr (std::is_floating_point_v<T>) return std::rint(x);
    else return x;
  }
};
inline constexpr pointwise_function<round_op> round;

}  // namespace tenon
