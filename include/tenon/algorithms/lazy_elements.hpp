// tenon/algorithms/lazy_elements.hpp: operands of algorithms that are evaluated where a device reads them.
// A pointwise expression needs no memory of its own: its value is computed from the number of the element.
// Floor 5: may include base, core, device, expr, plan, kernels, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/lines.hpp>
#include <tenon/algorithms/numbered.hpp>
#include <tenon/expr/views/broadcast.hpp>
#include <tenon/plan/stages.hpp>

namespace tenon {

/// A pointwise expression in the place of a view that algorithms read.
template <class Node>
struct lazy_elements {
  using element = typename Node::element;
  using shape_type = typename Node::shape_type;
  using space = detail::concrete_space<typename Node::space>;
  static constexpr int rank = shape_type::rank;
  Node node;

  decltype(auto) shape() const { return node.shape(); }
  index size() const { return shape().count(); }
  index extent(int axis) const { return shape().extent(axis); }
};

/// Values of a program by their number; a kernel may carry it.
template <class Element, int Rank, class Program>
struct numbered_values {
  using element = Element;
  numbered_positions<Rank> positions;
  Program program;

  TENON_HOST_DEVICE element operator[](index number) const {
    return static_cast<element>(program.at(positions[number]).value(0, no_slots{}));
  }
};

namespace detail {

/// The values of an expression whose axes are iterated as `map` says.
template <class Node, int Rank>
auto values_by_number(const Node& node, const axis_map<Rank, Rank>& map) {
  auto program = node.template lower<0>(map);
  const auto own = node.shape().to_array();
  array<index, Rank> extents{};
  for (int axis = 0; axis < Rank; ++axis) extents[axis] = own[map.target[axis]];
  if constexpr (visits_all_reads<decltype(program)>) {
    merge_axes(extents, 0, Rank, program);
  }
  return numbered_values<typename Node::element, Rank, decltype(program)>{numbered_positions<Rank>(extents), program};
}

/// Whether an operand is read lazily: a pointwise expression that the host does not walk itself.
template <class Node>
inline constexpr bool is_read_lazily =
    !concrete_space<typename Node::space>::host_accessible && !std::is_same_v<typename Node::kind, leaf_kind> &&
    stage_of<Node>() == stage::pointwise;

/// The counterpart of what `in_memory` returns, for an expression that is not in memory.
template <class Node>
struct lazy_operand {
  using element = typename Node::element;
  using shape_type = typename Node::shape_type;
  lazy_elements<Node> elements;

  decltype(auto) shape() const { return elements.shape(); }
  const lazy_elements<Node>& view() const { return elements; }
};

}  // namespace detail

/// The values of an expression in row-major order.
template <class Node>
auto in_order(const lazy_elements<Node>& elements) {
  return detail::values_by_number(elements.node, identity_map<Node::shape_type::rank>());
}

/// The values line after line, lines along `axis` in row-major order of the other axes; each line from its end where
/// `reverse`.
template <class Node>
auto line_by_line(const lazy_elements<Node>& elements, int axis, bool reverse = false) {
  constexpr int rank = Node::shape_type::rank;
  auto map = ordered_map(with_axis_last<rank>(axis));
  if (reverse && elements.size() != 0) {
    map.start[axis] = elements.extent(axis) - 1;
    map.step[rank - 1] = -1;
  }
  return detail::values_by_number(elements.node, map);
}

/// An expression repeated to other extents.
template <class Node, class Shape>
auto broadcast_to(const lazy_elements<Node>& elements, const Shape& extents) {
  const auto node = broadcast_to(elements.node, extents);
  return lazy_elements<std::remove_const_t<decltype(node)>>{node};
}

/// An operand of `algorithm` that is read element by element, a few times at most: as `in_memory`, but a pointwise
/// expression is evaluated by a device where it reads.
template <tensor_operand Operand>
auto as_read(const char* algorithm, Operand&& operand) {
  using node = node_of<Operand>;
  algorithms_must_run<algorithm_space<Operand>>();
  if constexpr (detail::is_read_lazily<node>) {
    check_operand(algorithm, as_node(operand));
    return detail::lazy_operand<node>{{as_node(std::forward<Operand>(operand))}};
  } else {
    return in_memory(algorithm, std::forward<Operand>(operand));
  }
}

}  // namespace tenon
