// tenon/expr/compositions.hpp: softmax and its kin, as plain expressions.
// They have no node and no kernel of their own: nested reductions over trailing axes are one row-resident kernel.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/operations/exponential.hpp>
#include <tenon/expr/reduce.hpp>

namespace tenon {

/// Softmax of `x` along `axes`: exp(x - max) / sum(exp(x - max)).
/// extents   those of x
/// types     floating; half and bfloat16 accumulate in float
/// cost      one kernel for trailing axes
template <tensor_operand Operand, int... Axes>
auto softmax(Operand&& operand, axis_list<Axes...> axes) {
  const auto& x = as_node(std::forward<Operand>(operand));
  const auto powers = exp(x - max(x, axes));
  return powers * (1 / sum(powers, axes));  // a division for each row, not for each element
}

/// Logarithm of the softmax, without leaving the logarithm: x - max - log(sum(exp(x - max))).
/// cost      one kernel for trailing axes
template <tensor_operand Operand, int... Axes>
auto log_softmax(Operand&& operand, axis_list<Axes...> axes) {
  const auto& x = as_node(std::forward<Operand>(operand));
  const auto centred = x - max(x, axes);
  return centred - log(sum(exp(centred), axes));
}

/// Logarithm of the sum of exponentials, safe from overflow.
/// extents   the named axes become 1
template <tensor_operand Operand, int... Axes>
auto logsumexp(Operand&& operand, axis_list<Axes...> axes) {
  const auto& x = as_node(std::forward<Operand>(operand));
  const auto greatest = max(x, axes);
  return log(sum(exp(x - greatest), axes)) + greatest;
}

/// (x - mean) / sqrt(variance + epsilon) along `axes`, with the biased variance: layer norm without its parameters.
/// cost      one kernel for trailing axes
template <tensor_operand Operand, int... Axes>
auto standardise(Operand&& operand, axis_list<Axes...> axes, float epsilon = 1e-5f) {
  const auto& x = as_node(std::forward<Operand>(operand));
  const auto centred = x - mean(x, axes);  // two sums over a row in cache are faster than one pass of `variance`
  return centred * rsqrt(mean(square(centred), axes) + epsilon);
}

}  // namespace tenon
