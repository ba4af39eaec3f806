// tenon/expr/operations/division.hpp: remainders, and quotients rounded down.
// Integers divided by 0 give 0, with remainder 0; floats follow IEEE 754 and, where it is silent, NumPy.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_integer.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

struct floor_op;
struct trunc_op;

/// The remainder of x / y, rounded towards zero. It has the sign of x, as in C.
struct fmod_op : promoting, lanewise<fmod_op> {
  static constexpr const char* name = "fmod";
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE static constexpr T number(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fmod(x, y);
    } else {
      return simd::rest(x, y);
    }
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto&, const auto&) { return g; }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto& x, const auto& z) {
    return -(g * apply_op<trunc_op>(x / z));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<fmod_op> fmod;

namespace detail {
/// Whether a quotient rounded towards zero, which left `left`, lies above the one rounded down.
template <class T>
TENON_HOST_DEVICE TENON_INLINE constexpr bool rounds_up(T left, T divisor) {
  if constexpr (std::is_unsigned_v<T>) {
    return false;
  } else {
    return left != 0 && (left < 0) != (divisor < 0);
  }
}
}  // namespace detail

/// The remainder of x / y, rounded down. It has the sign of y, as in Python. It is also written `x % y`.
struct remainder_op : promoting, lanewise<remainder_op> {
  static constexpr const char* name = "remainder";
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE static constexpr T number(T x, T y) {
    const T left = fmod_op::number(x, y);
    if constexpr (std::is_floating_point_v<T>) {
      if (left == 0) return std::copysign(left, y);
    }
    return detail::rounds_up(left, y) ? static_cast<T>(left + y) : left;
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto&, const auto&) { return g; }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto& x, const auto& z) {
    return -(g * apply_op<floor_op>(x / z));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<remainder_op> remainder;

/// x / y, rounded down. Floats divided by 0 give what `divide` gives.
struct floor_divide_op : promoting, lanewise<floor_divide_op> {
  static constexpr const char* name = "floor_divide";
  using flat = void;
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE static constexpr T number(T x, T y) {
    const T left = fmod_op::number(x, y);
    const T below = detail::rounds_up(left, y) ? 1 : 0;
    if constexpr (std::is_floating_point_v<T>) {
      const T whole = std::rint((x - left) / y - below);  // whole already, but for the rounding of its steps
      return y == 0 ? x / y : whole == 0 ? std::copysign(whole, x / y) : whole;
    } else {
      return static_cast<T>(simd::quotient(x, y) - below);
    }
  }
};
TENON_FUNCTION_OBJECT pointwise_function<floor_divide_op> floor_divide;

template <class Left, operand_beside<Left> Right>
constexpr pointwise_of<remainder_op, Left, Right> operator%(Left&& left, Right&& right) {
  return remainder(std::forward<Left>(left), std::forward<Right>(right));
}

}  // namespace tenon
