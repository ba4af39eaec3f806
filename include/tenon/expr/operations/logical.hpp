// tenon/expr/operations/logical.hpp: and, or, exclusive or, not of bool.
// Operands of other types count as true where they are not 0.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// True where both operands are true.
struct logical_and_op : boolean {
  static constexpr const char* name = "logical_and";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y) {
    return simd::logical_and(x, y);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<logical_and_op> logical_and;

/// True where at least one operand is true.
struct logical_or_op : boolean {
  static constexpr const char* name = "logical_or";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y) {
    return simd::logical_or(x, y);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<logical_or_op> logical_or;

/// True where exactly one operand is true.
struct logical_xor_op : boolean {
  static constexpr const char* name = "logical_xor";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y) {
    return static_cast<V>(x ^ y);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<logical_xor_op> logical_xor;

/// True where the operand is false.
struct logical_not_op : boolean {
  static constexpr const char* name = "logical_not";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::logical_not(x);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<logical_not_op> logical_not;

template <class Left, operand_beside<Left> Right>
constexpr pointwise_of<logical_and_op, Left, Right> operator&&(Left&& left, Right&& right) {
  return logical_and(std::forward<Left>(left), std::forward<Right>(right));
}

template <class Left, operand_beside<Left> Right>
constexpr pointwise_of<logical_or_op, Left, Right> operator||(Left&& left, Right&& right) {
  return logical_or(std::forward<Left>(left), std::forward<Right>(right));
}

template <tensor_operand Operand>
constexpr pointwise_of<logical_not_op, Operand> operator!(Operand&& operand) {
  return logical_not(std::forward<Operand>(operand));
}

}  // namespace tenon
