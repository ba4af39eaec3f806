// tenon/expr/operations/arithmetic.hpp: sums, products and their kin.
// Integers divide as C++ integers do; division of an integer by 0 is undefined, as in C++.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// x + y
struct add_op : promoting {
  static constexpr const char* name = "add";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x, V y) {
    return x + y;
  }
};
inline constexpr pointwise_function<add_op> add;

/// x - y
struct subtract_op : promoting {
  static constexpr const char* name = "subtract";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x, V y) {
    return x - y;
  }
};
inline constexpr pointwise_function<subtract_op> subtract;

/// x * y
struct multiply_op : promoting {
  static constexpr const char* name = "multiply";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x, V y) {
    return x * y;
  }
};
inline constexpr pointwise_function<multiply_op> multiply;

/// x / y
struct divide_op : promoting {
  static constexpr const char* name = "divide";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x, V y) {
    return x / y;
  }
};
inline constexpr pointwise_function<divide_op> divide;

/// -x
struct negate_op : promoting {
  static constexpr const char* name = "negate";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return -x;
  }
};
inline constexpr pointwise_function<negate_op> negate;

/// Absolute value.
struct abs_op : promoting {
  static constexpr const char* name = "abs";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::abs(x);
  }
};
inline constexpr pointwise_function<abs_op> abs;

/// x * x
struct square_op : promoting {
  static constexpr const char* name = "square";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return x * x;
  }
};
inline constexpr pointwise_function<square_op> square;

/// The lesser of two values; NaN when either is NaN.
struct minimum_op : promoting {
  static constexpr const char* name = "minimum";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x, V y) {
    return simd::min(x, y);
  }
};
inline constexpr pointwise_function<minimum_op> minimum;

/// The greater of two values; NaN when either is NaN.
struct maximum_op : promoting {
  static constexpr const char* name = "maximum";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x, V y) {
    return simd::max(x, y);
  }
};
inline constexpr pointwise_function<maximum_op> maximum;

/// x, but at least `low` and at most `high`.
struct clamp_op : promoting {
  static constexpr const char* name = "clamp";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x, V low, V high) {
    return simd::min(simd::max(x, low), high);
  }
};
inline constexpr pointwise_function<clamp_op> clamp;

template <class Left, class Right>
  requires operands_of_expression<Left, Right>
TENON_INLINE auto operator+(Left&& left, Right&& right) {
  return add(std::forward<Left>(left), std::forward<Right>(right));
}

template <class Left, class Right>
  requires operands_of_expression<Left, Right>
TENON_INLINE auto operator-(Left&& left, Right&& right) {
  return subtract(std::forward<Left>(left), std::forward<Right>(right));
}

template <class Left, class Right>
  requires operands_of_expression<Left, Right>
TENON_INLINE auto operator*(Left&& left, Right&& right) {
  return multiply(std::forward<Left>(left), std::forward<Right>(right));
}

template <class Left, class Right>
  requires operands_of_expression<Left, Right>
TENON_INLINE auto operator/(Left&& left, Right&& right) {
  return divide(std::forward<Left>(left), std::forward<Right>(right));
}

template <tensor_operand Operand>
TENON_INLINE auto operator-(Operand&& operand) {
  return negate(std::forward<Operand>(operand));
}

}  // namespace tenon
