// tenon/grad/attention.hpp: gradients of attention.
// Weights are made again from queries and keys, in memory; the rest are products and sums over them.
// Floor 6: may include base, core, expr, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/attention.hpp>
#include <tenon/expr/operations/activation.hpp>
#include <tenon/expr/operations/exponential.hpp>
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
  const auto powers = exp(exponents - maximum(max(exponents, axis<-1>), lowest));
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

}  // namespace detail

/// The gradient of an operand of attention, from the result's: with weights p and those of p, dp, that of scores is
/// p (dp - sum(p dp)).
/// cost      scores of all queries and keys in memory
template <int I, class... Operands, class Gradient>
  requires(I < 4)
auto operand_gradient(const attention<Operands...>& node, const Gradient& gradient) {
  const auto& operand = get<I>(node.operands);
  const auto scores = detail::capped_scores(node);
  const auto weights = detail::attention_weights(node, scores);
  const auto whole = [&] {
    if constexpr (I == 2) {
      return matmul(transpose(detail::with_factor(node, weights)), gradient);
    } else {
      const auto of_exponents = detail::exponents_gradient(
          weights, detail::with_factor(node, matmul(gradient, transpose(get<2>(node.operands)))));
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
  }();
  return fit_gradient(operand, whole.shape(), whole);
}

}  // namespace tenon
