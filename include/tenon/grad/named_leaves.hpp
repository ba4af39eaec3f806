// tenon/grad/named_leaves.hpp: names for the leaves of an expression that were written without.
// Leaves are numbered in the order in which they are written; the name goes into the type.
// Floor 6: may include base, core, expr, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/grad/variable.hpp>

namespace tenon {

namespace detail {

/// How many leaves an expression has.
template <class Node, class Operands = operands_of<Node>>
inline constexpr int leaf_count = 1;
template <class Node, class... Operands>
  requires(!std::is_same_v<typename Node::kind, leaf_kind>)
inline constexpr int leaf_count<Node, tuple<Operands...>> = (0 + ... + leaf_count<Operands>);

template <int First, int I, class... Operands>
constexpr int first_leaf_of_operand(std::type_identity<tuple<Operands...>>) {
  const int counts[] = {leaf_count<Operands>...};
  int first = First;
  for (int before = 0; before < I; ++before) first += counts[before];
  return first;
}

}  // namespace detail

/// Makes a variable of each leaf.
struct name_every_leaf {
  template <int Name, class T, class Shape, class Space, class Owner>
  static auto named(const leaf<T, Shape, Space, Owner>& node) {
    return leaf<T, Shape, Space, variable_name<Name>>{node.view(), {}};
  }
};

/// An expression with `Naming::named<Number>(leaf)` in the place of each leaf, numbered from `First` on.
template <class Naming, int First = 0, class Node>
auto with_named_leaves(const Node& node) {
  if constexpr (std::is_same_v<typename Node::kind, leaf_kind>) {
    return Naming::template named<First>(node);
  } else if constexpr (decltype(Node::operands)::count == 0) {
    return node;
  } else {
    using operands = std::type_identity<operands_of<Node>>;
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return node.with_operands(make_tuple_of(
          with_named_leaves<Naming, detail::first_leaf_of_operand<First, I>(operands{})>(get<I>(node.operands))...));
    }(std::make_integer_sequence<int, decltype(Node::operands)::count>{});
  }
}

/// Calls `visitor(name, leaf)` for every variable of an expression.
template <class Node, class Visitor>
void visit_named_leaves(const Node& node, const Visitor& visitor) {
  if constexpr (detail::variable_of_node<Node> >= 0) {
    visitor(constant<detail::variable_of_node<Node>>{}, node);
  } else if constexpr (decltype(Node::operands)::count != 0) {
    apply_tuple([&](const auto&... operands) { (visit_named_leaves(operands, visitor), ...); }, node.operands);
  }
}

}  // namespace tenon
