// tenon/grad/attention.hpp: gradients of attention.
// Those of queries, keys and values are passes without weights in memory; gradients of these, and of masks, have them.
// Floor 6: may include base, core, expr, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/attention_gradient.hpp>
#include <tenon/expr/operations/activation.hpp>
#include <tenon/expr/operations/exponential.hpp>
#include <tenon/expr/operations/stop_gradient.hpp>
#include <tenon/expr/views/permute.hpp>
#include <tenon/expr/views/triangle.hpp>
#include <tenon/grad/fit.hpp>

namespace tenon {

namespace detail {

/// Products of queries and keys, scaled and capped.
template <class... Operands>
auto capped_scores(const attention<Operands...>& node) {
  const auto products = matmul(get<0>(node.operands), transpose(get<1>(node.operands)));
  return soft_cap(products * node.scale(), node.options.softcap);
}

/// The softmax of the scores that queries see; 0 where a query sees none.
template <class... Operands, class Scores>
auto attention_weights(const attention<Operands...>& node, const Scores& scores) {
  using shape_type = typename Scores::shape_type;
  constexpr int rank = shape_type::rank;
  constexpr auto lowest = std::numeric_limits<float>::lowest(), least = std::numeric_limits<float>::min();
  using matrix = shape<shape_type::static_extent(rank - 2), shape_type::static_extent(rank - 1)>;
  const matrix extents(array<index, 2>{{scores.shape().extent(rank - 2), scores.shape().extent(rank - 1)}});
  const index limit = node.options.is_causal ? node.options.first_query : node.keys();
  const generated<at_most_generator, matrix> is_seen{{limit}, extents, 0, {{-1, 1}}};
  const auto with_bias = [&] {
    if constexpr (attention<Operands...>::has_bias) return scores + get<3>(node.operands);
    else return scores;
  }();
  const auto exponents = where(is_seen, with_bias, -std::numeric_limits<float>::infinity());
  const auto powers = exp(exponents - stop_gradient(maximum(max(exponents, axis<-1>), lowest)));
  return powers / maximum(sum(powers, axis<-1>), least);
}
template <class... Operands>
auto attention_weights(const attention<Operands...>& node) {
  return attention_weights(node, capped_scores(node));
}

/// Weights, or their gradient, times what the node multiplies weights by.
template <class... Operands, class Weights>
auto with_factor(const attention<Operands...>& node, const Weights& weights) {
  if constexpr (attention<Operands...>::has_factor) return weights * get<4>(node.operands);
  else return weights;
}

/// The gradient of exponents of weights, from that of the weights.
template <class Weights, class Gradient>
auto exponents_gradient(const Weights& weights, const Gradient& of_weights) {
  return weights * (of_weights - sum(weights * of_weights, axis<-1>));
}

/// The gradient of operand `I` of attention, from the result's, by way of weights p and their gradients dp, in memory:
/// that of scores is p (dp - sum(p dp)).
template <int I, class Node, class Gradient>
auto gradient_in_memory(const Node& node, const Gradient& gradient) {
  const auto scores = capped_scores(node);
  const auto weights = attention_weights(node, scores);
  if constexpr (I == 2) {
    return matmul(transpose(with_factor(node, weights)), gradient);
  } else {
    const auto of_exponents =
        exponents_gradient(weights, with_factor(node, matmul(gradient, transpose(get<2>(node.operands)))));
    if constexpr (I == 3) {
      return of_exponents;
    } else {
      const auto of_scores = soft_cap_op::gradient(of_operand<0>{}, of_exponents, scores, get<0>(scores.operands),
                                                   get<1>(scores.operands)) *
                             node.scale();
      if constexpr (I == 0) return matmul(of_scores, get<1>(node.operands));
      else return matmul(transpose(of_scores), get<0>(node.operands));
    }
  }
}

}  // namespace detail

/// The gradient of an operand of attention, from the result's.
/// cost      no weights in memory; of a mask, the weights of all queries and keys
template <int I, class... Operands, class Gradient>
  requires(I < 4)
auto operand_gradient(const attention<Operands...>& node, const Gradient& gradient) {
  const auto whole = [&] {
    if constexpr (I == 3) return detail::gradient_in_memory<I>(node, gradient);
    else return make_attention_gradient<I>(node, gradient);
  }();
  return fit_gradient(get<I>(node.operands), whole.shape(), whole);
}

/// What gradients see in place of a gradient of attention: the same by way of weights in memory.
template <int I, class T, class Shape, class Query, class Key, class Value, class Bias, class Factor, class Gradient>
auto differentiable_form(
    const own_pass<attention_gradient_algorithm<I>, T, Shape, Query, Key, Value, Bias, Factor, Gradient>& node) {
  const auto& operands = node.operands;
  return detail::gradient_in_memory<I>(detail::make_attention(get<0>(operands), get<1>(operands), get<2>(operands),
                                                              get<3>(operands), node.options.options, get<4>(operands)),
                                       get<5>(operands));
}

}  // namespace tenon
