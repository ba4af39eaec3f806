// tenon/expr/operations/bitwise.hpp: operations on the bits of integers, and on bool.
// Floats do not compile.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_integer.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// As promoting, of integers alone or of integers and bool.
template <bool TakesBool>
struct bits_of_operands {
  static constexpr bool is_of_bits = TakesBool;
  template <class... Operands>
  struct promoted {
    using type = promoted_element<Operands...>;
    static_assert((std::is_integral_v<type> && (TakesBool || !std::is_same_v<type, bool>)) || must_hold<type>,
                  "tenon: bits are of integers, and of bool unless shifted; convert first, cast<std::int32_t>(x)");
  };
  template <class... Operands>
  using element = typename promoted<Operands...>::type;
  template <int, class... Operands>
  using operand = element<Operands...>;
};

/// x & y
struct bitwise_and_op : bits_of_operands<true> {
  static constexpr const char* name = "bitwise_and";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y) {
    return static_cast<V>(x & y);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<bitwise_and_op> bitwise_and;

/// x | y
struct bitwise_or_op : bits_of_operands<true> {
  static constexpr const char* name = "bitwise_or";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y) {
    return static_cast<V>(x | y);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<bitwise_or_op> bitwise_or;

/// x ^ y
struct bitwise_xor_op : bits_of_operands<true> {
  static constexpr const char* name = "bitwise_xor";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y) {
    return static_cast<V>(x ^ y);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<bitwise_xor_op> bitwise_xor;

/// ~x; of bool the opposite.
struct bitwise_not_op : bits_of_operands<true> {
  static constexpr const char* name = "bitwise_not";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    if constexpr (std::is_same_v<V, bool>) {
      return !x;
    } else {
      return static_cast<V>(~x);
    }
  }
};
TENON_FUNCTION_OBJECT pointwise_function<bitwise_not_op> bitwise_not;

/// x << count, wrapped around; 0 where count is negative or the width or more. Integers only.
struct left_shift_op : bits_of_operands<false> {
  static constexpr const char* name = "left_shift";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V count) {
    return simd::shift_left(x, count);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<left_shift_op> left_shift;

/// x >> count, rounded down; 0, or -1 of a negative x, where count is negative or the width or more. Integers only.
struct right_shift_op : bits_of_operands<false> {
  static constexpr const char* name = "right_shift";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V count) {
    return simd::shift_right(x, count);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<right_shift_op> right_shift;

template <class Left, operand_beside<Left> Right>
constexpr pointwise_of<bitwise_and_op, Left, Right> operator&(Left&& left, Right&& right) {
  return bitwise_and(std::forward<Left>(left), std::forward<Right>(right));
}

template <class Left, operand_beside<Left> Right>
constexpr pointwise_of<bitwise_or_op, Left, Right> operator|(Left&& left, Right&& right) {
  return bitwise_or(std::forward<Left>(left), std::forward<Right>(right));
}

template <class Left, operand_beside<Left> Right>
constexpr pointwise_of<bitwise_xor_op, Left, Right> operator^(Left&& left, Right&& right) {
  return bitwise_xor(std::forward<Left>(left), std::forward<Right>(right));
}

template <class Left, operand_beside<Left> Right>
constexpr pointwise_of<left_shift_op, Left, Right> operator<<(Left&& left, Right&& right) {
  return left_shift(std::forward<Left>(left), std::forward<Right>(right));
}

template <class Left, operand_beside<Left> Right>
constexpr pointwise_of<right_shift_op, Left, Right> operator>>(Left&& left, Right&& right) {
  return right_shift(std::forward<Left>(left), std::forward<Right>(right));
}

template <tensor_operand Operand>
constexpr pointwise_of<bitwise_not_op, Operand> operator~(Operand&& operand) {
  return bitwise_not(std::forward<Operand>(operand));
}

}  // namespace tenon
