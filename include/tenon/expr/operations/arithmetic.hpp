// tenon/expr/operations/arithmetic.hpp: sums, products and their kin.
// Integers wrap around; divided by 0 they give 0, and the lowest one divided by -1 is itself.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_integer.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

struct sign_op;
struct square_op;
struct where_op;

namespace detail {
/// The gradient of one of two operands, of which the result is one: all of it, half where both are equal, or 0.
template <class Gradient, class Tie, class Choice>
constexpr auto half_of_ties(const Gradient& g, const Tie& tie, const Choice& chosen) {
  return apply_op<where_op>(tie, g * 0.5, apply_op<where_op>(chosen, g, 0));
}

/// What a difference gives.
template <class T>
struct difference {
  static_assert(!std::is_same_v<T, bool> || must_hold<T>,
                "tenon: bools have no sign and no difference; write cast<int>(x > 0) - cast<int>(x < 0), !x or x != y");
  using type = T;
};
}  // namespace detail

/// As promoting, of what has a sign: of two bools, true - false and false - true would be the same.
struct promoting_signed : promoting {
  template <class... Operands>
  using element = typename detail::difference<promoted_element<Operands...>>::type;
};

/// x + y
struct add_op : promoting {
  static constexpr const char* name = "add";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y) {
    return simd::unwrapped<V>(simd::wrapping(x) + simd::wrapping(y));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto&, const auto&) { return g; }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto&, const auto&) { return g; }
};
TENON_FUNCTION_OBJECT pointwise_function<add_op> add;

/// x - y
struct subtract_op : promoting_signed {
  static constexpr const char* name = "subtract";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y) {
    return simd::unwrapped<V>(simd::wrapping(x) - simd::wrapping(y));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto&, const auto&) { return g; }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto&, const auto&) { return -g; }
};
TENON_FUNCTION_OBJECT pointwise_function<subtract_op> subtract;

/// x * y
struct multiply_op : promoting {
  static constexpr const char* name = "multiply";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y) {
    return simd::unwrapped<V>(simd::wrapping(x) * simd::wrapping(y));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto&, const auto& z) { return g * z; }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto& x, const auto&) { return g * x; }
};
TENON_FUNCTION_OBJECT pointwise_function<multiply_op> multiply;

/// x / y; of integers rounded towards zero.
struct divide_op : promoting {
  static constexpr const char* name = "divide";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y) {
    return simd::quotient(x, y);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto&, const auto& z) { return g / z; }
  static auto gradient(of_operand<1>, const auto& g, const auto& y, const auto&, const auto& z) { return -(g * y / z); }
};
TENON_FUNCTION_OBJECT pointwise_function<divide_op> divide;

/// -x
struct negate_op : promoting_signed {
  static constexpr const char* name = "negate";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::negated(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto&) { return -g; }
};
TENON_FUNCTION_OBJECT pointwise_function<negate_op> negate;

/// Absolute value; of the lowest integer itself, of complex numbers a real one.
struct abs_op : promoting {
  static constexpr const char* name = "abs";
  template <class... Operands>
  using element = real_type<promoted_element<Operands...>>;
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(V x) {
    if constexpr (simd::has_signed_lanes<V>) {
      return simd::select(x < V{}, simd::negated(x), x);
    } else {
      return simd::abs(x);
    }
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) { return g * apply_op<sign_op>(x); }
};
TENON_FUNCTION_OBJECT pointwise_function<abs_op> abs;

/// x * x
struct square_op : promoting {
  static constexpr const char* name = "square";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::unwrapped<V>(simd::wrapping(x) * simd::wrapping(x));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) { return g * (2 * x); }
};
TENON_FUNCTION_OBJECT pointwise_function<square_op> square;

/// The lesser of two values; NaN when either is NaN.
struct minimum_op : promoting {
  static constexpr const char* name = "minimum";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y) {
    return simd::min(x, y);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x, const auto& z) {
    return detail::half_of_ties(g, x == z, x < z);
  }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto& x, const auto& z) {
    return detail::half_of_ties(g, x == z, z < x);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<minimum_op> minimum;

/// The greater of two values; NaN when either is NaN.
struct maximum_op : promoting {
  static constexpr const char* name = "maximum";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y) {
    return simd::max(x, y);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x, const auto& z) {
    return detail::half_of_ties(g, x == z, x > z);
  }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto& x, const auto& z) {
    return detail::half_of_ties(g, x == z, z > x);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<maximum_op> maximum;

/// Like minimum and maximum, but where one of the two values is NaN, the result is the other one.
struct fmin_op : promoting {
  static constexpr const char* name = "fmin";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y) {
    return simd::select(x != x, y, simd::select(y < x, y, x));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto& x, const auto& z) {
    return detail::half_of_ties(g, x == z, y == x);
  }
  static auto gradient(of_operand<1>, const auto& g, const auto& y, const auto& x, const auto& z) {
    return detail::half_of_ties(g, x == z, y == z);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<fmin_op> fmin;
struct fmax_op : promoting {
  static constexpr const char* name = "fmax";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y) {
    return simd::select(x != x, y, simd::select(y > x, y, x));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto& x, const auto& z) {
    return detail::half_of_ties(g, x == z, y == x);
  }
  static auto gradient(of_operand<1>, const auto& g, const auto& y, const auto& x, const auto& z) {
    return detail::half_of_ties(g, x == z, y == z);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<fmax_op> fmax;

/// x, but at least `low` and at most `high`.
struct clamp_op : promoting {
  static constexpr const char* name = "clamp";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V low, V high) {
    return simd::min(simd::max(x, low), high);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto& x, const auto&, const auto&) {
    return apply_op<where_op>(y == x, g, 0);
  }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto& x, const auto& z, const auto&) {
    return apply_op<where_op>(x < z, g, 0);
  }
  static auto gradient(of_operand<2>, const auto& g, const auto&, const auto& x, const auto&, const auto& w) {
    return apply_op<where_op>(x > w, g, 0);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<clamp_op> clamp;

/// x * y + z; of floats rounded once.
struct fma_op : promoting, lanewise<fma_op> {
  static constexpr const char* name = "fma";
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE static constexpr T number(T x, T y, T z) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fma(x, y, z);
    } else {
      return simd::unwrapped<T>(simd::wrapping(x) * simd::wrapping(y) + simd::wrapping(z));
    }
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto&, const auto& z, const auto&) {
    return g * z;
  }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto& x, const auto&, const auto&) {
    return g * x;
  }
  static auto gradient(of_operand<2>, const auto& g, const auto&, const auto&, const auto&, const auto&) { return g; }
};
TENON_FUNCTION_OBJECT pointwise_function<fma_op> fma;

/// x + weight * (y - x), exact at both ends.
struct lerp_op : floating_result {
  static constexpr const char* name = "lerp";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y, V weight) {
    const V one = simd::constant_like<V>(1), difference = y - x;
    return simd::select(weight < simd::constant_like<V>(0.5), x + weight * difference, y - difference * (one - weight));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto&, const auto&, const auto& w) {
    return g * (1 - w);
  }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto&, const auto&, const auto& w) {
    return g * w;
  }
  static auto gradient(of_operand<2>, const auto& g, const auto&, const auto& x, const auto& z, const auto&) {
    return g * (z - x);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<lerp_op> lerp;

/// -1, 0 or 1; NaN stays NaN.
struct sign_op : promoting {
  static constexpr const char* name = "sign";
  using flat = void;
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    const V one = simd::constant_like<V>(1);
    const V positive = simd::select(x > V{}, one, simd::select(x == V{}, V{}, x));
    if constexpr (std::is_unsigned_v<simd::lane_of<V>>) {
      return positive;
    } else {
      return simd::select(x < V{}, simd::negated(one), positive);
    }
  }
};
TENON_FUNCTION_OBJECT pointwise_function<sign_op> sign;

/// The magnitude of x with the sign of y, which zeros and NaN have too.
struct copysign_op : floating_result, lanewise<copysign_op> {
  static constexpr const char* name = "copysign";
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE static constexpr T number(T x, T y) {
    return std::copysign(x, y);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto& x, const auto&) {
    return g * apply_op<where_op>(x == 0, 0, y / x);
  }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto&, const auto&) { return g * 0; }
};
TENON_FUNCTION_OBJECT pointwise_function<copysign_op> copysign;

/// `add` as an operator.
template <class Left, operand_beside<Left> Right>
TENON_INLINE constexpr pointwise_of<add_op, Left, Right> operator+(Left&& left, Right&& right) {
  return {add_op{}, as_node(std::forward<Left>(left)), as_node(std::forward<Right>(right))};
}

/// `subtract` as an operator.
template <class Left, operand_beside<Left> Right>
TENON_INLINE constexpr pointwise_of<subtract_op, Left, Right> operator-(Left&& left, Right&& right) {
  return {subtract_op{}, as_node(std::forward<Left>(left)), as_node(std::forward<Right>(right))};
}

/// `multiply` as an operator.
template <class Left, operand_beside<Left> Right>
TENON_INLINE constexpr pointwise_of<multiply_op, Left, Right> operator*(Left&& left, Right&& right) {
  return {multiply_op{}, as_node(std::forward<Left>(left)), as_node(std::forward<Right>(right))};
}

/// `divide` as an operator.
template <class Left, operand_beside<Left> Right>
TENON_INLINE constexpr pointwise_of<divide_op, Left, Right> operator/(Left&& left, Right&& right) {
  return {divide_op{}, as_node(std::forward<Left>(left)), as_node(std::forward<Right>(right))};
}

template <tensor_operand Operand>
TENON_INLINE constexpr pointwise_of<negate_op, Operand> operator-(Operand&& operand) {
  return {negate_op{}, as_node(std::forward<Operand>(operand))};
}

}  // namespace tenon
