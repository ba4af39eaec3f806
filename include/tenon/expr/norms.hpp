// tenon/expr/norms.hpp: vector norms over axes, as plain expressions.
// A pointwise operation under a reduction is one kernel; the reduced axes stay with extent 1, as in any reduction.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/operations/exponential.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/reduce.hpp>

namespace tenon {

namespace detail {

/// Integers as float, before a square or the absolute value of the lowest one leaves their range.
template <class Operand>
constexpr auto as_floating(Operand&& operand) {
  using element = typename node_of<Operand>::element;
  return cast<std::conditional_t<is_floating<element>, element, float>>(std::forward<Operand>(operand));
}

}  // namespace detail

/// Sum of absolute values; NaN when any value is NaN. Empty: 0.
/// types     floating; of integers float
/// example   const float size = norm_l1(x);
template <tensor_operand Operand, axes_of_reduction Axes = all_axes>
auto norm_l1(Operand&& operand, Axes axes = {}) {
  return sum(abs(detail::as_floating(std::forward<Operand>(operand))), axes);
}

/// Square root of the sum of squares, of complex numbers of their absolute values; NaN when any value is NaN. Empty: 0.
/// types     floating; of integers float; of complex numbers their parts' type
/// accuracy  squares are not scaled: of floats, magnitudes beyond 1e19 overflow and those below 1e-19 vanish
/// gradient  0 where the norm is 0, as PyTorch has it
/// example   y = x / norm_l2(x, axis<-1>);
template <tensor_operand Operand, axes_of_reduction Axes = all_axes>
auto norm_l2(Operand&& operand, Axes axes = {}) {
  if constexpr (is_complex<typename node_of<Operand>::element>) {
    return detail::level_sqrt(sum(square(abs(std::forward<Operand>(operand))), axes));
  } else {
    return detail::level_sqrt(sum(square(detail::as_floating(std::forward<Operand>(operand))), axes));
  }
}

/// Greatest absolute value; NaN when any value is NaN.
/// types     floating; of integers float
/// throws    shape_error when nothing is left to fold
/// example   const float greatest = norm_inf(x);
template <tensor_operand Operand, axes_of_reduction Axes = all_axes>
constexpr auto norm_inf(Operand&& operand, Axes axes = {}) {
  return max(abs(detail::as_floating(std::forward<Operand>(operand))), axes);
}

/// Sum of the absolute values to the power of p, to the power of 1 / p; NaN when any value is NaN. Empty: 0.
/// types     floating; of integers float
/// throws    index_error unless p is positive and finite; the limit of great p is `norm_inf`
/// gradient  0 where the norm is 0, and for p < 1 where x is 0, as PyTorch has it
/// example   const float size = norm(x, 3);
template <tensor_operand Operand, axes_of_reduction Axes = all_axes>
constexpr auto norm(Operand&& operand, double p, Axes axes = {}) {
  if (!(p > 0 && p < __builtin_huge_val())) {
    throw index_error(compose_text("norm: p: ", p, ", expected a positive finite number; norm_inf for infinity?"));
  }
  const auto magnitudes = abs(detail::as_floating(std::forward<Operand>(operand)));
  return detail::level_pow(sum(detail::level_pow(magnitudes, p), axes), 1 / p);
}

}  // namespace tenon
