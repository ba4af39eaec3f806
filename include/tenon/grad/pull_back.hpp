// tenon/grad/pull_back.hpp: from the gradient of a result back to a variable.
// The sweep knows kinds of nodes; an operation says its own derivative, in the struct that says its value.
// Floor 6: may include base, core, expr, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/grad/attention.hpp>
#include <tenon/grad/contractions.hpp>
#include <tenon/grad/reductions.hpp>
#include <tenon/grad/repetition.hpp>
#include <tenon/grad/scans.hpp>
#include <tenon/grad/variable.hpp>
#include <tenon/grad/views.hpp>
#include <tenon/grad/windows.hpp>

namespace tenon {

/// The gradient of operand `I` of a pointwise operation, from the result's.
template <int I, class Op, class... Operands, class Gradient>
  requires requires(const Gradient& gradient, const pointwise<Op, Operands...>& node, const Operands&... operands) {
    Op::gradient(of_operand<I>{}, gradient, node, operands...);
  }
auto operand_gradient(const pointwise<Op, Operands...>& node, const Gradient& gradient) {
  return apply_tuple(
      [&](const Operands&... operands) { return Op::gradient(of_operand<I>{}, gradient, node, operands...); },
      node.operands);
}

namespace detail {

/// Whether there is a rule for operand `I` of a node; does not compile where there is none.
template <class Node, int I, class Gradient>
consteval bool derivative_must_exist() {
  using operand = std::remove_cvref_t<decltype(get<I>(std::declval<const Node&>().operands))>;
  constexpr bool is_real = !is_complex<typename Node::element> && !is_complex<typename operand::element>;
  constexpr bool exists =
      is_real && requires(const Node& node, const Gradient& gradient) { operand_gradient<I>(node, gradient); };
  static_assert(is_real || must_hold<Node>,
                "tenon: complex numbers have no derivative; stop_gradient(x) makes a result a constant");
  static_assert(exists || !is_real || must_hold<Node>,
                "tenon: this operation has no derivative; stop_gradient(x) makes its result a constant");
  return exists;
}

/// The gradient of operand `I`, of extents that repeat over the operand's.
template <int I, class Node, class Gradient>
auto gradient_of_operand(const Node& node, const Gradient& gradient) {
  constexpr bool is_pointwise = std::is_same_v<typename Node::kind, pointwise_kind>;
  const auto& operand = get<I>(node.operands);
  const auto whole = [&] {
    if constexpr (is_pointwise) return gradient;
    else return repeat_gradient(gradient, node.shape());
  }();
  if constexpr (!derivative_must_exist<Node, I, std::remove_const_t<decltype(whole)>>()) {
    return operand;  // the compiler has said it: no more errors
  } else if constexpr (is_pointwise) {
    return fit_gradient(operand, node.shape(), operand_gradient<I>(node, whole));
  } else {
    return fit_gradient(operand, operand.shape(), operand_gradient<I>(node, whole));
  }
}

/// Whether operand `I` of a node is the last one that depends on the variable.
template <int Name, int I, class... Operands>
constexpr bool is_last_dependent(std::type_identity<tuple<Operands...>>) {
  const bool dependent[] = {depends_on<Name, Operands>...};
  for (int later = I + 1; later < static_cast<int>(sizeof...(Operands)); ++later) {
    if (dependent[later]) return false;
  }
  return true;
}

/// The sum of the variable's gradients through operand `I` and the operands behind it.
template <int Name, int I, class Node, class Gradient>
auto pull_back_operands(const Node& node, const Gradient& gradient);

}  // namespace detail

/// The gradient of the variable `Name` in `node`, from the gradient of `node` itself: an expression of the variable's
/// extents.
template <int Name, class Node, class Gradient>
auto pull_back(const Node& node, const Gradient& gradient) {
  if constexpr (detail::variable_of_node<Node> == Name) return gradient;
  else if constexpr (requires { differentiable_form(node); })
    return pull_back<Name>(differentiable_form(node), gradient);
  else return detail::pull_back_operands<Name, 0>(node, gradient);
}

namespace detail {

template <int Name, int I, class Node, class Gradient>
auto pull_back_operands(const Node& node, const Gradient& gradient) {
  const auto& operand = get<I>(node.operands);
  if constexpr (!depends_on<Name, std::remove_cvref_t<decltype(operand)>>) {
    return pull_back_operands<Name, I + 1>(node, gradient);
  } else {
    const auto own = pull_back<Name>(operand, gradient_of_operand<I>(node, gradient));
    if constexpr (is_last_dependent<Name, I>(std::type_identity<operands_of<Node>>{})) return own;
    else return own + pull_back_operands<Name, I + 1>(node, gradient);
  }
}

}  // namespace detail

}  // namespace tenon
