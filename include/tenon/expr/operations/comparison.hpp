// tenon/expr/operations/comparison.hpp: comparisons, elementwise.
// The result is bool; NaN compares unequal to everything, itself included.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tenon/device/simd_integer.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

struct argmax_monoid;
template <class Monoid, class Axes, class Operand>
struct reduction;

/// Operands are promoted, the result is bool. Signed integers and unsigned ones of 64 bits, which no type holds
/// together, keep their types: they are compared as numbers. Integers of 32 and 64 bits beside floats are compared in
/// double: rounded to float, 16777217 would equal 16777216.
struct comparing : predicate {
  template <class... Operands>
  static constexpr bool is_mixed = std::is_same_v<promoted_element<Operands...>, std::int64_t> &&
                                   (std::is_same_v<typename Operands::element, std::uint64_t> || ...);
  template <class... Operands>
  static constexpr bool rounds =
      is_floating<promoted_element<Operands...>> && !is_complex<promoted_element<Operands...>> &&
      ((is_integer<typename Operands::element> && sizeof(typename Operands::element) > 2 &&
        !detail::is_scalar_node<Operands>) ||
       ...);
  template <int I, class... Operands>
  using operand = std::conditional_t<
      is_mixed<Operands...> &&
          std::is_same_v<typename type_list<typename Operands::element...>::template at<I>, std::uint64_t>,
      std::uint64_t, std::conditional_t<rounds<Operands...>, double, promoted_element<Operands...>>>;
};

namespace detail {

/// A comparison of signed with unsigned integers: those below 0 are less than all others.
template <class Op, class X, class Y>
TENON_HOST_DEVICE TENON_INLINE constexpr auto compare_as_numbers(X x, Y y) {
  const auto as_unsigned = Op::value(simd::wrapping(x), simd::wrapping(y));
  constexpr bool otherwise = simd::has_signed_lanes<X> ? Op::value(0, 1) : Op::value(1, 0);
  const auto is_below = [&] {
    if constexpr (simd::has_signed_lanes<X>) return x < X{};
    else return y < Y{};
  }();
  if constexpr (simd::is_number<X>) return is_below ? otherwise : as_unsigned;
  else if constexpr (otherwise) return is_below | as_unsigned;
  else return ~is_below & as_unsigned;
}

/// The rank of what holds positions along its last axis, which is kept; of others 0.
template <class Node>
inline constexpr int rank_of_positions = 0;
template <class Monoid, class Axes, class Operand>
  requires(std::is_base_of_v<argmax_monoid, Monoid>)
inline constexpr int rank_of_positions<reduction<Monoid, Axes, Operand>> = [] {
  using extents = typename reduction<Monoid, Axes, Operand>::shape_type;
  return extents::rank > 1 && extents::static_extent(extents::rank - 1) == 1 ? extents::rank : 0;
}();

/// Whether positions [rows, 1] stand beside a tensor [rows], with which they would make a table.
template <class Positions, class Labels>
inline constexpr bool makes_a_table =
    std::is_same_v<typename Labels::kind, leaf_kind> && Labels::shape_type::rank > 0 &&
    rank_of_positions<Positions> == Labels::shape_type::rank + 1;

/// What a test of equality gives.
template <class... Operands>
struct equality {
  using type = bool;
};
template <class X, class Y>
struct equality<X, Y> {
  static_assert(!(makes_a_table<X, Y> || makes_a_table<Y, X>) || must_hold<X, Y>,
                "tenon: argmax keeps its axis, so each position would be compared with each label; write argmax(x, "
                "drop<-1>) == labels");
  using type = bool;
};

/// Whether a node says which of two operands is less.
template <class Node>
inline constexpr bool is_order = false;
/// What a test of order gives.
template <class X, class Y>
struct order {
  static_assert(!(is_order<X> && !std::is_same_v<typename Y::element, bool>) || must_hold<X, Y>,
                "tenon: 0 < x < 2 asks whether a bool is less than 2; write 0 < x && x < 2");
  using type = bool;
};

}  // namespace detail

/// Comparisons for equality, which positions meet with labels.
struct comparing_equals : comparing {
  template <class... Operands>
  using element = typename detail::equality<Operands...>::type;
};

/// Comparisons for order, which C++ does not chain as Python does.
struct comparing_order : comparing {
  template <class... Operands>
  using element = typename detail::order<Operands...>::type;
};
template <class Op, class... Operands>
  requires std::is_base_of_v<comparing_order, Op>
inline constexpr bool detail::is_order<pointwise<Op, Operands...>> = true;

/// x == y
struct equal_op : comparing_equals {
  static constexpr const char* name = "equal";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(V x, V y) {
    return x == y;
  }
  template <class X, class Y>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(X x, Y y) {
    return detail::compare_as_numbers<equal_op>(x, y);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<equal_op> equal;

/// x != y
struct not_equal_op : comparing_equals {
  static constexpr const char* name = "not_equal";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(V x, V y) {
    return x != y;
  }
  template <class X, class Y>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(X x, Y y) {
    return detail::compare_as_numbers<not_equal_op>(x, y);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<not_equal_op> not_equal;

/// x < y
struct less_op : comparing_order {
  static constexpr const char* name = "less";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(V x, V y) {
    return x < y;
  }
  template <class X, class Y>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(X x, Y y) {
    return detail::compare_as_numbers<less_op>(x, y);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<less_op> less;

/// x <= y
struct less_equal_op : comparing_order {
  static constexpr const char* name = "less_equal";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(V x, V y) {
    return x <= y;
  }
  template <class X, class Y>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(X x, Y y) {
    return detail::compare_as_numbers<less_equal_op>(x, y);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<less_equal_op> less_equal;

/// x > y
struct greater_op : comparing_order {
  static constexpr const char* name = "greater";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(V x, V y) {
    return x > y;
  }
  template <class X, class Y>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(X x, Y y) {
    return detail::compare_as_numbers<greater_op>(x, y);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<greater_op> greater;

/// x >= y
struct greater_equal_op : comparing_order {
  static constexpr const char* name = "greater_equal";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(V x, V y) {
    return x >= y;
  }
  template <class X, class Y>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(X x, Y y) {
    return detail::compare_as_numbers<greater_equal_op>(x, y);
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
