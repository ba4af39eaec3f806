// tenon/expr/statistics.hpp: counts, deviations, and reductions that pass over NaN, as plain expressions.
// A correction of the count is a factor of the result, and NaN is passed over as it is folded: one kernel each.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/operations/classification.hpp>
#include <tenon/expr/operations/comparison.hpp>
#include <tenon/expr/operations/exponential.hpp>
#include <tenon/expr/operations/logical.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/reduce.hpp>

namespace tenon {

/// Mean squared distance from the mean. NaN when any value is NaN or infinite, and when there is none.
/// types     floating; of integers float, those of 32 and 64 bits folded in double
/// accuracy  stable in one pass, also when the mean is far greater than the deviation: of floats whose mean is 10000
///           deviations, on the host within 2e-5 along the last axis, 2e-4 along others
/// example   variance(x, axis<1>) divides by n, variance(x, axis<1>, 1) by n - 1 (NaN for one value), as in NumPy
struct variance_function : reduction_function<variance_monoid> {
  using reduction_function<variance_monoid>::operator();

  template <tensor_operand Operand, axes_of_reduction Axes>
  auto operator()(Operand&& operand, Axes axes, double correction) const {
    const auto count = static_cast<double>(folded_count(axes, operand.shape(), "variance"));
    const double divisor = count > correction ? count - correction : 0;
    return (*this)(std::forward<Operand>(operand), axes) * (count / divisor);
  }
};
inline constexpr variance_function variance;

/// Square root of the variance; `correction` is subtracted from the count it divides by.
/// gradient  0 where the deviation is 0, as PyTorch has it
/// example   const float spread = stddev(x);
template <tensor_operand Operand, axes_of_reduction Axes = all_axes>
auto stddev(Operand&& operand, Axes axes = {}) {
  return detail::level_sqrt(variance(std::forward<Operand>(operand), axes));
}
template <tensor_operand Operand, axes_of_reduction Axes>
auto stddev(Operand&& operand, Axes axes, double correction) {
  return detail::level_sqrt(variance(std::forward<Operand>(operand), axes, correction));
}

/// How many values differ from zero; NaN does. Empty: 0.
/// types     a 64-bit integer
/// example   const auto missing = evaluated_tensor(count_nonzero(isnan(x)));
template <tensor_operand Operand, axes_of_reduction Axes = all_axes>
auto count_nonzero(Operand&& operand, Axes axes = {}) {
  return sum(std::forward<Operand>(operand) != 0, axes);
}

/// Sum of what is not NaN. Nothing else: 0.
/// example   const float total = nansum(x);
template <tensor_operand Operand, axes_of_reduction Axes = all_axes>
auto nansum(Operand&& operand, Axes axes = {}) {
  const auto& x = as_node(std::forward<Operand>(operand));
  return sum(where(isnan(x), 0, x), axes);
}

/// Mean of what is not NaN. Nothing else: NaN.
/// types     floating
/// example   const float average = nanmean(x);
template <tensor_operand Operand, axes_of_reduction Axes = all_axes>
  requires is_floating<typename node_of<Operand>::element>
auto nanmean(Operand&& operand, Axes axes = {}) {
  const auto& x = as_node(std::forward<Operand>(operand));
  return nansum(x, axes) / cast<typename node_of<Operand>::element>(sum(!isnan(x), axes));
}

/// Greatest value that is not NaN. Nothing else: NaN.
/// types     floating
/// throws    shape_error when nothing is left to fold
/// example   const float greatest = nanmax(x);
template <tensor_operand Operand, axes_of_reduction Axes = all_axes>
  requires is_floating<typename node_of<Operand>::element>
auto nanmax(Operand&& operand, Axes axes = {}) {
  return reduction_function<nanmax_monoid>{}(std::forward<Operand>(operand), axes);
}

/// Least value that is not NaN. Nothing else: NaN.
/// types     floating
/// throws    shape_error when nothing is left to fold
/// example   const float least = nanmin(x);
template <tensor_operand Operand, axes_of_reduction Axes = all_axes>
  requires is_floating<typename node_of<Operand>::element>
auto nanmin(Operand&& operand, Axes axes = {}) {
  return reduction_function<nanmin_monoid>{}(std::forward<Operand>(operand), axes);
}

}  // namespace tenon
