// tenon/expr/operations/where_cast.hpp: choice between values, and conversion of element types.
// A cast converts as C++ does where C++ says how; what an integer type cannot hold becomes its nearest number.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_lanes.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// `x` where the condition holds, `y` elsewhere; x and y are promoted.
struct where_op {
  static constexpr const char* name = "where";
  template <class Condition, class... Values>
  using element = promoted_element<Values...>;
  template <int I, class Condition, class... Values>
  using operand = std::conditional_t<I == 0, bool, promoted_element<Values...>>;
  template <class Mask, class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(Mask condition, V x, V y) {
    return simd::select(condition, x, y);
  }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto& x, const auto&, const auto&) {
    return apply_op<where_op>(x, g, 0);
  }
  static auto gradient(of_operand<2>, const auto& g, const auto&, const auto& x, const auto&, const auto&) {
    return apply_op<where_op>(x, 0, g);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<where_op> where;

/// A number of float as half or bfloat16 holds it.
template <class T>
struct rounded_to {
  TENON_HOST_DEVICE constexpr float operator()(float x) const { return static_cast<float>(T(x)); }
};

/// Elements converted to `T`: floats lose their fraction, become the nearest number where they are beyond the range of
/// an integer type, and 0 where they are NaN; integers wrap. half and bfloat16 are rounded here, though they are
/// computed in float.
template <dtype T>
struct cast_op {
  static constexpr const char* name = "cast";
  template <class>
  using element = T;
  template <int, class>
  using operand = T;
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    if constexpr (!is_short_float<T>) {
      return x;
    } else if constexpr (simd::is_number<V>) {
      return rounded_to<T>{}(x);
    } else {
      return simd::map_lanes<float>(rounded_to<T>{}, x);
    }
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto&) { return g; }
};
/// What is of type T already stays as it is.
/// example   y = cast<float>(labels);
template <dtype T, tensor_operand Operand>
constexpr auto cast(Operand&& operand) {
  static_assert(is_complex<T> || !is_complex<typename node_of<Operand>::element> || must_hold<T, Operand>,
                "tenon: complex numbers become real ones by real(z), imag(z) or abs(z)");
  constexpr bool is_there = std::is_same_v<typename node_of<Operand>::element, T> && !is_short_float<T>;
  if constexpr (is_there) return as_node(std::forward<Operand>(operand));
  else return make_pointwise(cast_op<T>{}, std::forward<Operand>(operand));
}

}  // namespace tenon
