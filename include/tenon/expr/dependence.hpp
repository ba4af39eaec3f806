// tenon/expr/dependence.hpp: which variables the value of an expression changes with.
// Types know: a variable is a leaf with a name, and what is whole numbers or truth values does not change smoothly.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// The name of a variable.
template <int Name>
struct variable_name {
  static constexpr int value = Name;
};

namespace detail {

template <class Node>
inline constexpr int variable_of_node = -1;
template <class T, class Shape, class Space, int Name>
inline constexpr int variable_of_node<leaf<T, Shape, Space, variable_name<Name>>> = Name;

}  // namespace detail

/// Stands for the names of all variables.
inline constexpr int any_variable = -2;
/// The name that all traced values have in common: users' names are smaller.
inline constexpr int traced_variable = (1 << 30) - 1;

namespace detail {

template <int Name, class... Operands>
constexpr bool any_depends(std::type_identity<tuple<Operands...>>);

/// Whether the value of a node changes with the variable `Name`, smoothly: whole numbers and truth values do not.
template <int Name, class Node>
constexpr bool depends() {
  if constexpr (variable_of_node<Node> >= 0) {
    return variable_of_node<Node> == Name || Name == any_variable;
  } else if constexpr (!is_floating<typename Node::element> || decltype(Node::operands)::count == 0) {
    return false;
  } else if constexpr (requires(const Node& node) { typename std::remove_cvref_t<decltype(node.op)>::flat; }) {
    return false;
  } else {
    return any_depends<Name>(std::type_identity<operands_of<Node>>{});
  }
}
template <int Name, class... Operands>
constexpr bool any_depends(std::type_identity<tuple<Operands...>>) {
  return (depends<Name, Operands>() || ...);
}

}  // namespace detail

/// Whether an expression depends on the variable `Name`, or on `any_variable`.
template <int Name, class Node>
inline constexpr bool depends_on = detail::depends<Name, Node>();

namespace detail {

/// Whether a numbered variable, `variable<0>(x)`, stands in an operand.
template <class Operand>
inline constexpr bool holds_numbered = false;
template <tensor_operand Operand>
inline constexpr bool holds_numbered<Operand> = []<class Node>(std::type_identity<Node>) {
  if constexpr (decltype(Node::operands)::count == 0) {
    return variable_of_node<Node> >= 0 && variable_of_node<Node> < traced_variable;
  } else {
    return []<class... Operands>(std::type_identity<tuple<Operands...>>) {
      return (false || ... || holds_numbered<Operands>);
    }(std::type_identity<operands_of<Node>>{});
  }
}(std::type_identity<node_of<Operand>>{});

}  // namespace detail

/// For algorithms whose results are tensors, which gradients take for constants: a variable among their operands is a
/// mistake.
template <class Node>
consteval void must_be_constant() {
  static_assert(!depends_on<any_variable, Node> || must_hold<Node>,
                "tenon: gradients do not reach through this algorithm; take_along_axis of what argsort gives has one, "
                "and stop_gradient(x) makes its operand a constant");
}

}  // namespace tenon
