// tenon/algorithms/attention_gradient.hpp: what runs gradients of attention, without the weights in memory.
// Each operand's gradient is an algorithm of the same operands, so gradients that are wanted together run as one.
// Floor 5: may include base, core, expr, plan, contraction, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/attention_gradient_select.hpp>
#include <tenon/expr/attention_gradient.hpp>
#include <tenon/plan/stages.hpp>

namespace tenon {

namespace detail {

/// An operand that a pass may read several times: a pointwise one as it is, any other evaluated into memory.
template <class Space, class Node>
auto readable_node(const Node& node) {
  if constexpr (stage_of<Node>() == stage::pointwise) {
    return node;
  } else {
    return as_node(tensor<typename Node::element, typename Node::shape_type, Space>(node));
  }
}

/// The target of a gradient; null where the view has no elements.
template <class T, class Shape, class Space>
strided_target<T, Shape::rank> gradient_target(const view<T, Shape, Space>& to) {
  return {to.size() == 0 ? nullptr : to.data(), to.strides()};
}

/// Refuses a destination of other extents than the gradient of operand `I`; one without elements is not written.
template <int I, class Node, class View>
void check_gradient_target(const char* given, const Node& node, const View& to) {
  static_assert(View::rank == Node::rank || must_hold<View>,
                "tenon: gradients of attention have all axes of its result");
  if (to.size() == 0) return;
  check_equal_extents("write_attention_gradients", given, to.shape(), "their gradient",
                      attention_gradient_shape<I>(node));
}

/// The attention node of these operands; a number in the place of mask or factor stands for none.
template <class Space, class Query, class Key, class Value, class Bias, class Factor>
auto readable_attention(const attention_options& options, const Query& query, const Key& key, const Value& value,
                        const Bias& bias, const Factor& factor) {
  return make_attention(readable_node<Space>(query), readable_node<Space>(key), readable_node<Space>(value),
                        readable_node<Space>(bias), options, readable_node<Space>(factor));
}

}  // namespace detail

/// Writes the gradients of the queries, keys and values of an attention node into views, from the gradient of its
/// result. Each gradient has all batches of the result; a view without elements stands for one that nobody wants.
/// throws    shape_error naming what has other extents, axis and both extents
/// cost      the weights are never in memory: they are computed twice, for the sums of queries and for the gradients
template <class... Operands, class Gradient, class QueryView, class KeyView, class ValueView>
void write_attention_gradients(const attention<Operands...>& node, const Gradient& gradient, const QueryView& to_query,
                               const KeyView& to_key, const ValueView& to_value) {
  using space = typename QueryView::space;
  detail::check_equal_extents("write_attention_gradients", "the gradient", gradient.shape(), "the result",
                              node.shape());
  detail::check_gradient_target<0>("the destination of queries", node, to_query);
  detail::check_gradient_target<1>("the destination of keys", node, to_key);
  detail::check_gradient_target<2>("the destination of values", node, to_value);
  const auto readable =
      apply_tuple([&](const auto&... operands) { return detail::readable_attention<space>(node.options, operands...); },
                  node.operands);
  run_attention_gradient<space>(
      readable, detail::readable_node<space>(gradient),
      attention_targets<typename QueryView::element, QueryView::rank>{
          detail::gradient_target(to_query), detail::gradient_target(to_key), detail::gradient_target(to_value)});
}

/// Runs the gradient of one operand alone.
template <int I>
struct executor_of<attention_gradient_algorithm<I>> {
  template <class Target, class Query, class Key, class Value, class Bias, class Factor, class Gradient>
  static void run(const attention_gradient_algorithm<I>& algorithm, const Target& target, const Query& query,
                  const Key& key, const Value& value, const Bias& bias, const Factor& factor,
                  const Gradient& gradient) {
    using space = typename Target::space;
    const auto node = detail::readable_attention<space>(algorithm.options, query, key, value, bias, factor);
    attention_targets<typename Target::element, Target::rank> to{};
    (I == 0 ? to.query : I == 1 ? to.key : to.value) = detail::gradient_target(target);
    run_attention_gradient<space>(node, detail::readable_node<space>(gradient), to);
  }
};

/// Runs several gradients together; they share the weights.
template <class Space>
struct executor_of<attention_gradients<Space>> {
  template <class Targets, class Node, class Gradient>
  static void run(attention_gradients<Space>, const Targets& to, const Node& node, const Gradient& gradient) {
    write_attention_gradients(node, gradient, get<0>(to), get<1>(to), get<2>(to));
  }
};

}  // namespace tenon
