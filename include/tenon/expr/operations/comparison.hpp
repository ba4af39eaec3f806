// tenon/expr/operations/comparison.hpp: comparisons, elementwise.
// The result is bool; NaN compares unequal to everything, itself included.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// x == y
struct equal_op : predicate {
  static constexpr const char* name = "equal";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(V x, V y) {
    return x == y;
  }
};
TENON_FUNCTION_OBJECT pointwise_function<equal_op> equal;

/// x != y
struct not_equal_op : predicate {
  static constexpr const char* name = "not_equal";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(V x, V y) {
    return x != y;
  }
};
TENON_FUNCTION_OBJECT pointwise_function<not_equal_op> not_equal;

/// x < y
struct less_op : predicate {
  static constexpr const char* name = "less";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(V x, V y) {
    return x < y;
  }
};
TENON_FUNCTION_OBJECT pointwise_function<less_op> less;

/// x <= y
struct less_equal_op : predicate {
  static constexpr const char* name = "less_equal";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(V x, V y) {
    return x <= y;
  }
};
TENON_FUNCTION_OBJECT pointwise_function<less_equal_op> less_equal;

/// x > y
struct greater_op : predicate {
  static constexpr const char* name = "greater";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(V x, V y) {
    return x > y;
  }
};
TENON_FUNCTION_OBJECT pointwise_function<greater_op> greater;

/// x >= y
struct greater_equal_op : predicate {
  static constexpr const char* name = "greater_equal";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(V x, V y) {
    return x >= y;
  }
};
TENON_FUNCTION_OBJECT pointwise_function<greater_equal_op> greater_equal;

template <class Left, operand_beside<Left> Right>
constexpr pointwise_of<equal_op, Left, Right> operator==(Left&& left, Right&& right) {
  return equal(std::forward<Left>(left), std::forward<Right>(right));
}

template <class Left, operand_beside<Left> Right>
constexpr pointwise_of<not_equal_op, Left, Right> operator!=(Left&& left, Right&& right) {
  return not_equal(std::forward<Left>(left), std::forward<Right>(right));
}

template <class Left, operand_beside<Left> Right>
constexpr pointwise_of<less_op, Left, Right> operator<(Left&& left, Right&& right) {
  return less(std::forward<Left>(left), std::forward<Right>(right));
}

template <class Left, operand_beside<Left> Right>
constexpr pointwise_of<less_equal_op, Left, Right> operator<=(Left&& left, Right&& right) {
  return less_equal(std::forward<Left>(left), std::forward<Right>(right));
}

template <class Left, operand_beside<Left> Right>
constexpr pointwise_of<greater_op, Left, Right> operator>(Left&& left, Right&& right) {
  return greater(std::forward<Left>(left), std::forward<Right>(right));
}

template <class Left, operand_beside<Left> Right>
constexpr pointwise_of<greater_equal_op, Left, Right> operator>=(Left&& left, Right&& right) {
  return greater_equal(std::forward<Left>(left), std::forward<Right>(right));
}

}  // namespace tenon
