// tenon/expr/polynomial.hpp: polynomials of the elements, by Horner's rule.
// One pointwise operation that holds the coefficients, so that its operand is computed once.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tenon/device/simd.hpp>
#include <tenon/expr/operations/arithmetic.hpp>

namespace tenon {

/// A polynomial of degree `Degree`, by its coefficients, that of the highest power first.
template <int Degree>
struct polyval_op : floating_result {
  static constexpr const char* name = "polyval";
  array<double, Degree + 1> coefficients;

  template <class V>
  TENON_HOST_DEVICE TENON_INLINE constexpr V value(V x) const {
    V result = simd::constant_like<V>(coefficients[0]);
    for (int i = 1; i <= Degree; ++i) {
      result = result * x + simd::constant_like<V>(coefficients[i]);
    }
    return result;
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto& x) {
    polyval_op<(Degree > 0 ? Degree - 1 : 0)> slope{};
    for (int i = 0; i < Degree; ++i) slope.coefficients[i] = y.op.coefficients[i] * (Degree - i);
    return g * make_pointwise(slope, x);
  }
};

/// The polynomial of these coefficients at each element, that of the highest power first, as numpy.polyval.
/// types     floating, of integers float; the coefficients are rounded to the type that is computed in
/// gradient  of the operand
/// example   y = polyval({2, 0, -1}, x);  // 2 x^2 - 1
template <std::size_t Count, tensor_operand Operand>
constexpr auto polyval(const double (&coefficients)[Count], Operand&& x) {
  polyval_op<static_cast<int>(Count) - 1> polynomial{};
  for (std::size_t i = 0; i < Count; ++i) polynomial.coefficients[static_cast<index>(i)] = coefficients[i];
  return make_pointwise(polynomial, std::forward<Operand>(x));
}

}  // namespace tenon
