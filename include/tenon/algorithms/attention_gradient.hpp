// tenon/algorithms/attention_gradient.hpp: gradients of attention within expressions, without the weights in memory.
// Each operand's gradient is an algorithm of the same operands, so that those which are wanted together run as one.
// Floor 5: may include base, core, expr, plan, contraction, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/attention_gradient_select.hpp>
#include <tenon/expr/own_pass.hpp>
#include <tenon/plan/stages.hpp>

namespace tenon {

namespace detail {

/// An operand that a pass may read several times: pointwise ones as they are, others from memory.
template <class Space, class Node>
auto readable_node(const Node& node) {
  if constexpr (stage_of<Node>() == stage::pointwise) {
    return node;
  } else {
    return as_node(tensor<typename Node::element, typename Node::shape_type, Space>(node));
  }
}

/// The target of a gradient; nowhere where nothing is given.
template <class T, class Shape, class Space>
strided_target<T, Shape::rank> gradient_target(const view<T, Shape, Space>& to) {
  return {to.size() == 0 ? nullptr : to.data(), to.strides()};
}

/// Attention of nodes, of which numbers stand for no mask or factor.
template <class Space, class Query, class Key, class Value, class Bias, class Factor>
auto readable_attention(const attention_options& options, const Query& query, const Key& key, const Value& value,
                        const Bias& bias, const Factor& factor) {
  return make_attention(readable_node<Space>(query), readable_node<Space>(key), readable_node<Space>(value),
                        readable_node<Space>(bias), options, readable_node<Space>(factor));
}

}  // namespace detail

/// The gradients of the queries, keys and values of an attention node, from the result's, each of all batches of the
/// result, into views.
/// cost      no weights in memory: they are made twice, once for the sums of queries and once for all gradients
template <class... Operands, class Gradient, class QueryView, class KeyView, class ValueView>
void write_attention_gradients(const attention<Operands...>& node, const Gradient& gradient, const QueryView& to_query,
                               const KeyView& to_key, const ValueView& to_value) {
  using space = typename QueryView::space;
  const auto readable =
      apply_tuple([&](const auto&... operands) { return detail::readable_attention<space>(node.options, operands...); },
                  node.operands);
  run_attention_gradient<space>(
      readable, detail::readable_node<space>(gradient),
      attention_targets<typename QueryView::element, QueryView::rank>{
          detail::gradient_target(to_query), detail::gradient_target(to_key), detail::gradient_target(to_value)});
}

/// The gradient of query, key or value (`I` is 0, 1 or 2) of attention, of all batches of its result. Its operands are
/// those of attention and the gradient of the result.
template <int I>
struct attention_gradient_algorithm {
  static constexpr const char* name = "attention_gradient";
  attention_options options;

  bool operator==(const attention_gradient_algorithm&) const = default;
  template <class Target, class Query, class Key, class Value, class Bias, class Factor, class Gradient>
  void operator()(const Target& target, const Query& query, const Key& key, const Value& value, const Bias& bias,
                  const Factor& factor, const Gradient& gradient) const {
    using space = typename Target::space;
    const auto node = detail::readable_attention<space>(options, query, key, value, bias, factor);
    attention_targets<typename Target::element, Target::rank> to{};
    (I == 0 ? to.query : I == 1 ? to.key : to.value) = detail::gradient_target(target);
    run_attention_gradient<space>(node, detail::readable_node<space>(gradient), to);
  }
};

namespace detail {

/// The extents of the gradient of operand `I`.
template <int I, class Node>
auto attention_gradient_shape(const Node& node) {
  using operand_shape = typename std::remove_cvref_t<decltype(get<I>(node.operands))>::shape_type;
  constexpr int rank = operand_shape::rank;
  using shape_type =
      decltype(matrix_shape<operand_shape::static_extent(rank - 2), operand_shape::static_extent(rank - 1)>(
          std::declval<const typename Node::batch_shape&>(), 0, 0, std::make_integer_sequence<int, Node::rank - 2>{}));
  auto extents = node.shape().to_array();
  extents[Node::rank - 2] = get<I>(node.operands).shape().extent(rank - 2);
  extents[Node::rank - 1] = get<I>(node.operands).shape().extent(rank - 1);
  return shape_type(extents);
}

}  // namespace detail

/// The gradient of operand `I` of an attention node, from the result's, as an expression.
template <int I, class Node, class Gradient>
auto make_attention_gradient(const Node& node, const Gradient& gradient) {
  return apply_tuple(
      [&](const auto&... operands) {
        return make_own_pass<typename Node::accumulator>(attention_gradient_algorithm<I>{node.options},
                                                         detail::attention_gradient_shape<I>(node), operands...,
                                                         gradient);
      },
      node.operands);
}

}  // namespace tenon
