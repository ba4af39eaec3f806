// tenon/expr/operations/classification.hpp: NaN, infinities, and numbers close to one another.
// The result is bool; integers are never NaN nor infinite.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// Whether x is not a number.
struct isnan_op : predicate {
  static constexpr const char* name = "isnan";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(V x) {
    return x != x;
  }
};
TENON_FUNCTION_OBJECT pointwise_function<isnan_op> isnan;

/// Whether x is infinite, of either sign. A complex number is infinite where one of its parts is.
struct isinf_op : predicate {
  static constexpr const char* name = "isinf";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(V x) {
    if constexpr (is_complex<V>) {
      return value(x.real()) || value(x.imag());
    } else if constexpr (std::is_floating_point_v<simd::lane_of<V>>) {
      return simd::abs(x) == simd::constant_like<V>(__builtin_huge_val());
    } else {
      return x != x;
    }
  }
};
TENON_FUNCTION_OBJECT pointwise_function<isinf_op> isinf;

/// Whether x is neither infinite nor NaN. A complex number is finite where both parts are.
struct isfinite_op : predicate {
  static constexpr const char* name = "isfinite";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(V x) {
    if constexpr (is_complex<V>) {
      return value(x.real()) && value(x.imag());
    } else if constexpr (std::is_floating_point_v<simd::lane_of<V>>) {
      return simd::abs(x) < simd::constant_like<V>(__builtin_huge_val());
    } else {
      return x == x;
    }
  }
};
TENON_FUNCTION_OBJECT pointwise_function<isfinite_op> isfinite;

/// How far apart numbers may lie, and whether two NaN are close.
struct tolerance {
  double relative = 1e-5, absolute = 1e-8;
  bool equal_nan = false;
};

/// Floats are compared in their own type, integers in double.
struct isclose_op {
  static constexpr const char* name = "isclose";
  template <class...>
  using element = bool;
  template <int, class... Operands>
  using operand = std::conditional_t<is_floating<promoted_element<Operands...>>, promoted_element<Operands...>, double>;

  tolerance within;

  template <class V>
  TENON_HOST_DEVICE TENON_INLINE constexpr auto value(V x, V y) const {
    const auto difference = simd::abs(x - y);
    using distance = std::remove_const_t<decltype(difference)>;
    const distance allowed =
        simd::constant_like<distance>(within.absolute) + simd::constant_like<distance>(within.relative) * simd::abs(y);
    const auto is_near = (difference <= allowed) & (difference < simd::constant_like<distance>(__builtin_huge_val()));
    const auto is_nan = x != x, other_is_nan = y != y;
    const auto both_nan = is_nan & other_is_nan & (simd::constant_like<distance>(within.equal_nan) != distance{});
    return (x == y) | is_near | both_nan;
  }
};

/// Whether |x - y| <= absolute + relative * |y|, as in NumPy; infinities are close to themselves alone.
/// example   isclose(x, y, {.relative = 1e-3})
template <class Left, class Right>
  requires operands_of_expression<Left, Right>
auto isclose(Left&& x, Right&& y, tolerance within = {}) {
  return make_pointwise(isclose_op{within}, std::forward<Left>(x), std::forward<Right>(y));
}

}  // namespace tenon
