// tenon/grad/variable.hpp: what a gradient is taken with respect to.
// A variable is a tensor whose node has a name in its type, so that types know where it stands in an expression.
// Floor 6: may include base, core, expr.
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

/// The variable `Name` with the elements of a tensor or view, which must outlive it. It is used like the tensor.
/// example   const auto w = variable<0>(weight); gradient(sum(square(matmul(x, w))), wrt(w))
template <int Name, class Tensor>
auto variable(const Tensor& elements) {
  const auto node = as_node(elements);
  using leaf_type = std::remove_const_t<decltype(node)>;
  static_assert(std::is_same_v<typename leaf_type::kind, leaf_kind>, "tenon: a variable is a tensor or a view");
  static_assert(is_floating<typename leaf_type::element>, "tenon: a variable has floating elements");
  return leaf<typename leaf_type::element, typename leaf_type::shape_type, typename leaf_type::space,
              variable_name<Name>>{node.elements, {}};
}

namespace detail {

template <int Name, class... Operands>
constexpr bool any_depends(std::type_identity<tuple<Operands...>>);

/// Whether the value of a node changes with the variable `Name`, smoothly: whole numbers and truth values do not.
template <int Name, class Node>
constexpr bool depends() {
  if constexpr (variable_of_node<Node> == Name) {
    return true;
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

/// Whether an expression depends on the variable `Name`.
template <int Name, class Node>
inline constexpr bool depends_on = detail::depends<Name, Node>();

}  // namespace tenon
