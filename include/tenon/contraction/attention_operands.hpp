// tenon/contraction/attention_operands.hpp: what gradients of attention are made of, and where they go.
// Products need operands either way round, so each is lowered with its rows and columns in both orders.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/matrix.hpp>
#include <tenon/device/simd_hyperbolic.hpp>
#include <tenon/expr/attention.hpp>

namespace tenon {

/// How the product of a query and a key becomes the exponent of a weight.
template <class T>
struct score_rule {
  T scale, softcap;

  template <class V>
  TENON_HOST_DEVICE TENON_INLINE V operator()(V score) const {
    const V scaled = score * scale;
    return softcap == 0 ? scaled : V(simd::tanh(V(scaled / softcap)) * softcap);
  }
  /// By what the gradient of an exponent is multiplied, from what the rule gave.
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE V slope(V exponent) const {
    const V share = softcap == 0 ? exponent * 0 : exponent / softcap;
    return (1 - share * share) * scale;
  }
};

/// Where gradients of queries, keys and values go, of all batches of the result: nowhere without data.
template <class T, int Rank>
struct attention_targets {
  strided_target<T, Rank> query, key, value;
};

/// A matrix as it is, and with rows and columns exchanged.
template <class Matrix>
struct matrix_both_ways {
  Matrix own, exchanged;

  template <int Rank>
  TENON_HOST_DEVICE matrix_both_ways at_batch(const array<index, Rank>& position) const {
    return {own.at_batch(position), exchanged.at_batch(position)};
  }
};

namespace detail {

/// An operand with the batches of an attention node's result, batch 0.
template <class Node, class Operand>
auto batched_matrix(const Node& node, const Operand& operand, index rows, index columns, bool is_exchanged) {
  constexpr int rank = Node::rank;
  auto extents = node.shape().to_array();
  extents[rank - 2] = is_exchanged ? columns : rows, extents[rank - 1] = is_exchanged ? rows : columns;
  return merged_matrix<batched_axes<rank>>(lower_in_batches<rank>(operand, is_exchanged), extents);
}
template <class Node, class Operand>
auto both_ways(const Node& node, const Operand& operand, index rows, index columns) {
  using matrix = decltype(batched_matrix(node, operand, rows, columns, false));
  return matrix_both_ways<matrix>{batched_matrix(node, operand, rows, columns, false),
                                  batched_matrix(node, operand, rows, columns, true)};
}

}  // namespace detail

/// The matrices of a batch: queries and gradients of results by rows of queries, keys and values by rows of keys.
template <class Node, class Gradient>
struct attention_operands {
  static constexpr int rank = Node::rank;
  template <class Operand>
  using both_ways_of =
      decltype(detail::both_ways(std::declval<const Node&>(), std::declval<const Operand&>(), index{}, index{}));

  both_ways_of<std::remove_cvref_t<decltype(get<0>(std::declval<const Node&>().operands))>> query;
  both_ways_of<std::remove_cvref_t<decltype(get<1>(std::declval<const Node&>().operands))>> key;
  both_ways_of<std::remove_cvref_t<decltype(get<2>(std::declval<const Node&>().operands))>> value;
  both_ways_of<Gradient> gradient;
  decltype(operand_matrix<3>(std::declval<const Node&>())) bias;
  decltype(operand_matrix<4>(std::declval<const Node&>())) factor;

  attention_operands(const Node& node, const Gradient& of_result, const product_extents<rank>& extents)
      : query(detail::both_ways(node, get<0>(node.operands), extents.rows, node.features())),
        key(detail::both_ways(node, get<1>(node.operands), extents.depth, node.features())),
        value(detail::both_ways(node, get<2>(node.operands), extents.depth, extents.columns)),
        gradient(detail::both_ways(node, of_result, extents.rows, extents.columns)),
        bias(operand_matrix<3>(node)),
        factor(operand_matrix<4>(node)) {}

  attention_operands at_batch(const array<index, rank>& position) const {
    auto result = *this;
    result.query = query.at_batch(position), result.key = key.at_batch(position);
    result.value = value.at_batch(position), result.gradient = gradient.at_batch(position);
    result.bias = bias.at_batch(position), result.factor = factor.at_batch(position);
    return result;
  }
};

}  // namespace tenon
