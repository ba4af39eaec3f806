// tenon/expr/attention_gradient.hpp: gradients of attention as expressions.
// They name what is wanted and of which operands; algorithms/attention_gradient.hpp runs it.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/attention.hpp>
#include <tenon/expr/own_pass.hpp>

namespace tenon {

/// The gradient of query, key or value (`I` is 0, 1 or 2) of attention, of all batches of its result. Its operands are
/// those of attention and the gradient of the result.
template <int I>
struct attention_gradient_algorithm {
  static constexpr const char* name = "attention_gradient";
  attention_options options;

  bool operator==(const attention_gradient_algorithm&) const = default;
  template <class... Others>
  void operator()(const Others&...) const {
    static_assert(must_hold<Others...>,
                  "tenon: to run gradients of attention include <tenon/algorithms/attention_gradient.hpp> or "
                  "<tenon/tenon.hpp>");
  }
};

/// Several of them, of one node: into a tuple of three views in `Space`, of which those that nobody wants are empty.
template <class Space>
struct attention_gradients {
  template <class... Others>
  void operator()(const Others&... others) const {
    attention_gradient_algorithm<0>{}(others...);
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
