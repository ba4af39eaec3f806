// tenon/expr/compositions.hpp: softmax and its kin, as plain expressions.
// They have no node and no kernel of their own: nested reductions over trailing axes are one row-resident kernel.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/operations/classification.hpp>
#include <tenon/expr/operations/exponential.hpp>
#include <tenon/expr/operations/stop_gradient.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/reduce.hpp>
#include <tenon/expr/views/reshape.hpp>

namespace tenon {

namespace detail {
/// The greatest along axes that may have no element; without one, softmax is empty and logsumexp -infinity.
template <class Node, class Axes>
constexpr auto greatest_if_any(const Node& x, const Axes& named) {
  constexpr int rank = Node::shape_type::rank;
  static_assert(reduced_axes_exist<rank, Axes> || must_hold<Axes, constant<rank>>,
                "tenon: an axis must lie in [-rank, rank)");
  if constexpr (std::is_same_v<Axes, axes>) {
    const auto reduced = named.among(x.shape().to_array(), "logsumexp");
    return make_reduction_of_any<max_monoid>(run_time_axes{}, as_node(axes_apart(x, reduced)));
  } else {
    return make_reduction_of_any<max_monoid>(named, x);
  }
}

/// What is subtracted from exponents: the greatest one, where it is finite.
template <class Node, class Axes>
constexpr auto exponent_shift(const Node& x, const Axes& axes) {
  const auto greatest = greatest_if_any(x, axes);
  return stop_gradient(where(isfinite(greatest), greatest, 0));
}
}  // namespace detail

/// Softmax of `x` along `axes`: exp(x - max) / sum(exp(x - max)).
/// extents   those of x; axes without elements give a result without elements
/// types     floating; half and bfloat16 accumulate in float
/// cost      one kernel for trailing axes
/// example   y = softmax(x, axis<-1>);
template <tensor_operand Operand, int... Axes>
constexpr auto softmax(Operand&& operand, axis_list<Axes...> axes) {
  const auto& x = as_node(std::forward<Operand>(operand));
  const auto powers =
      exp(x - stop_gradient(detail::greatest_if_any(x, axes)));  // the maximum cancels out, and so does its gradient
  return powers * (1 / sum(powers, axes));                       // a division for each row, not for each element
}

/// Logarithm of the softmax, without leaving the logarithm: x - max - log(sum(exp(x - max))).
/// cost      one kernel for trailing axes
/// example   y = log_softmax(x, axis<-1>);
template <tensor_operand Operand, int... Axes>
constexpr auto log_softmax(Operand&& operand, axis_list<Axes...> axes) {
  const auto& x = as_node(std::forward<Operand>(operand));
  const auto centred = x - stop_gradient(detail::greatest_if_any(x, axes));
  return centred - log(sum(exp(centred), axes));
}

/// Logarithm of the sum of exponentials, of everything or along axes, safe from overflow; infinite where the greatest
/// value is, -infinity of nothing.
/// extents   as those of `sum`; a destination without the axes of `axis<...>` takes the result, too
/// cost      one kernel for trailing axes that stay, with extent 1; three where axes go
/// throws    index_error naming a run-time axis that x lacks or that is named twice
/// example   const auto total = evaluated_tensor(logsumexp(x, axis<-1>));
template <tensor_operand Operand, axes_of_reduction Axes = all_axes>
constexpr auto logsumexp(Operand&& operand, Axes axes = {}) {
  const auto& x = as_node(std::forward<Operand>(operand));
  const auto shift = detail::exponent_shift(x, axes);
  return log(sum(exp(x - shift), axes)) + shift;
}
template <tensor_operand Operand, int... Axes>
constexpr auto logsumexp(Operand&& operand, dropped_axes<Axes...> axes) {
  const auto& x = as_node(std::forward<Operand>(operand));
  const auto kept = detail::exponent_shift(x, axis<Axes...>);
  return log(sum(exp(x - kept), axes)) + detail::exponent_shift(x, axes);
}

/// (x - mean) / sqrt(variance + epsilon) along `axes`, with the biased variance: layer norm without its parameters.
/// cost      one kernel for trailing axes
/// example   y = standardise(x, axis<-1>, 1e-5f);
template <tensor_operand Operand, int... Axes>
constexpr auto standardise(Operand&& operand, axis_list<Axes...> axes, float epsilon = 1e-5f) {
  const auto& x = as_node(std::forward<Operand>(operand));
  static_assert(!is_complex<typename node_of<Operand>::element> || must_hold<Operand>,
                "tenon: standardise takes real numbers; real(z) and imag(z) are the parts of complex ones");
  const auto centred = x - mean(x, axes);  // two sums over a row in cache are faster than one pass of `variance`
  return centred * rsqrt(mean(square(centred), axes) + epsilon);
}

/// Layer norm: `standardise`, then times `weight` plus `bias`, which broadcast over x.
/// cost      one kernel for trailing axes
/// source    Ba, Kiros, Hinton 2016: Layer normalization
/// example   y = layer_norm(x, axis<-1>, weight, bias, 1e-5f);
template <tensor_operand Operand, int... Axes, class Weight, class Bias>
  requires operands_of_expression<Operand, Weight, Bias>
constexpr auto layer_norm(Operand&& operand, axis_list<Axes...> axes, Weight&& weight, Bias&& bias,
                          float epsilon = 1e-5f) {
  return standardise(std::forward<Operand>(operand), axes, epsilon) * std::forward<Weight>(weight) +
         std::forward<Bias>(bias);
}

/// x / sqrt(mean of squares + epsilon) along `axes`, times `weight`, which broadcasts over x.
/// cost      one kernel for trailing axes
/// source    Zhang, Sennrich 2019: Root mean square layer normalization
/// example   y = rms_norm(x, axis<-1>, weight, 1e-5f);
template <tensor_operand Operand, int... Axes, class Weight>
  requires operands_of_expression<Operand, Weight>
constexpr auto rms_norm(Operand&& operand, axis_list<Axes...> axes, Weight&& weight, float epsilon = 1e-5f) {
  static_assert(!is_complex<typename node_of<Operand>::element> || must_hold<Operand>,
                "tenon: rms_norm takes real numbers; real(z) and imag(z) are the parts of complex ones");
  const auto& x = as_node(std::forward<Operand>(operand));
  return x * rsqrt(mean(square(x), axes) + epsilon) * std::forward<Weight>(weight);
}

/// Every group of neighbouring channels, with all positions behind them, made standard: group norm without its
/// parameters. x is [batch, channels, ...].
/// throws    shape_error when the channels are no multiple of the groups
/// cost      two kernels; one when written to a view: the example of `unflatten`
/// source    Wu, He 2018: Group normalization
template <tensor_operand Operand>
constexpr auto standardise_groups(Operand&& operand, index groups, float epsilon = 1e-5f) {
  constexpr int rank = node_of<Operand>::shape_type::rank;
  static_assert(rank >= 2, "tenon: standardise_groups takes [batch, channels, ...]");
  const auto grouped = unflatten(std::forward<Operand>(operand), axis<1>, groups);
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return flatten(standardise(grouped, axis<I + 2 ...>, epsilon), axis<1, 2>);
  }(std::make_integer_sequence<int, rank - 1>{});
}

}  // namespace tenon
