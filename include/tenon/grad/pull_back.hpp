// tenon/grad/pull_back.hpp: from a result's gradient back to a variable, and from a variable's change to the result.
// The sweeps know kinds of nodes; an operation says its own derivative, in the struct that says its value.
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

/// `pull_back`, where `Steps` says what becomes of gradients on the way, `Steps::template kept<Name>(node, gradient)`;
/// void leaves them as they are written.
template <int Name, class Steps, class Node, class Gradient>
auto pull_back_by(const Node& node, const Gradient& gradient);

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

/// Whether an operand of a node has its element type, and repeats along no axis, as far as types know.
template <class Operand, class Node>
constexpr bool keeps_place() {
  using from = typename Operand::shape_type;
  using to = typename Node::shape_type;
  bool keeps = std::is_same_v<typename Operand::element, typename Node::element> && from::rank == to::rank;
  for (int axis = 0; keeps && axis < to::rank; ++axis) {
    keeps = from::static_extent(axis) != 1 || to::static_extent(axis) == 1;
  }
  return keeps;
}

/// The sum of `share(constant<I>{})` over the operands that depend on the variable, from operand `I` on.
template <int Name, int I, class Node, class Share>
auto sum_of_shares(const Node& node, const Share& share) {
  using operand = std::remove_cvref_t<decltype(get<I>(node.operands))>;
  if constexpr (!depends_on<Name, operand>) {
    return sum_of_shares<Name, I + 1>(node, share);
  } else {
    const auto own = share(constant<I>{});
    if constexpr (is_last_dependent<Name, I>(std::type_identity<operands_of<Node>>{})) return own;
    else return own + sum_of_shares<Name, I + 1>(node, share);
  }
}

/// How often the variable is read, where each element of it moves the one element of the node at its own place: under
/// pointwise operations that repeat and convert nothing that depends on it. Elsewhere -1.
template <int Name, class Node>
inline constexpr int reads_in_place = [] {
  if constexpr (!depends_on<Name, Node>) {
    return 0;
  } else if constexpr (variable_of_node<Node> == Name) {
    return 1;
  } else if constexpr (!std::is_same_v<typename Node::kind, pointwise_kind>) {
    return -1;
  } else {
    return []<class... Operands>(std::type_identity<tuple<Operands...>>) {
      const int reads[] = {
          (!depends_on<Name, Operands> || keeps_place<Operands, Node>() ? reads_in_place<Name, Operands> : -1)...};
      int total = 0;
      for (const int each : reads) total = total < 0 || each < 0 ? -1 : total + each;
      return total;
    }(std::type_identity<operands_of<Node>>{});
  }
}();

/// Whether a node does to a change of its operand what it does to the operand: views that put nothing beside it, sums.
template <class Node>
inline constexpr bool is_linear = false;
template <class Operand, class Shape, class Axes>
inline constexpr bool is_linear<index_map<Operand, Shape, Axes>> = true;
template <class Map, class Shape, class Operand>
inline constexpr bool is_linear<remap<Map, Shape, Operand>> = !requires(const Map& map) { map.outside; };
template <class Axes, class Operand>
inline constexpr bool is_linear<reduction<sum_monoid, Axes, Operand>> = true;
template <class Axes, class Operand>
inline constexpr bool is_linear<reduction<mean_monoid, Axes, Operand>> = true;

/// The name of the gradient of a result, which no expression is left with; users' names are smaller.
inline constexpr int seed_variable = 1 << 30;

/// How a node moves when its operand `I` does, of extents that repeat over the node's. An operation without a rule of
/// its own has the transpose of its gradient, which is linear in the gradient of the result.
template <int I, class Node, class Change>
auto change_through_operand(const Node& node, const Change& change) {
  const auto& operand = get<I>(node.operands);
  if constexpr (std::is_same_v<typename Node::kind, pointwise_kind>) {
    check_repetition(operand.shape(), node.shape());
    const auto moved = with_element<typename Node::element>(change);
    if constexpr (!derivative_must_exist<Node, I, std::remove_const_t<decltype(moved)>>()) return moved;
    else return with_element<typename Node::element>(operand_gradient<I>(node, moved));
  } else {
    const auto whole = repeat_gradient(change, operand.shape());
    if constexpr (is_linear<Node>) {
      return node.with_operands(make_tuple_of(whole));
    } else {
      using seed_leaf =
          leaf<typename Node::element, typename Node::shape_type, typename Node::space, variable_name<seed_variable>>;
      const seed_leaf seed{{nullptr, node.shape()}, {}};  // nothing reads it
      const auto back = repeat_gradient(gradient_of_operand<I>(node, seed), operand.shape());
      if constexpr (depends_on<seed_variable, std::remove_const_t<decltype(back)>>)
        return repeat_gradient(pull_back_by<seed_variable, void>(back, whole), node.shape());
      else return constants(node.shape(), typename Node::element(0));
    }
  }
}

}  // namespace detail

/// How `node` moves when the variable `Name` moves by `change`: an expression of extents that repeat over the node's.
/// An operand's change is written once, however often the variable is read below it.
template <int Name, class Node, class Change>
auto push_forward(const Node& node, const Change& change) {
  if constexpr (detail::variable_of_node<Node> == Name) {
    return change;
  } else if constexpr (requires { differentiable_form(node); }) {
    return push_forward<Name>(differentiable_form(node), change);
  } else {
    return detail::sum_of_shares<Name, 0>(node, [&]<int I>(constant<I>) {
      return detail::change_through_operand<I>(node, push_forward<Name>(get<I>(node.operands), change));
    });
  }
}

namespace detail {

/// Where elements keep their places, derivatives are numbers: the way forward has the same product, and is shorter to
/// write where the variable is read more than once.
template <int Name, class Steps, class Node, class Gradient>
auto pull_back_by(const Node& node, const Gradient& gradient) {
  if constexpr (variable_of_node<Node> == Name) {
    return gradient;
  } else if constexpr (requires { differentiable_form(node); }) {
    return pull_back_by<Name, Steps>(differentiable_form(node), gradient);
  } else if constexpr (reads_in_place<Name, Node> > 1) {
    return push_forward<Name>(node, gradient);
  } else {
    return sum_of_shares<Name, 0>(node, [&]<int I>(constant<I>) {
      const auto& operand = get<I>(node.operands);
      const auto own = gradient_of_operand<I>(node, gradient);
      if constexpr (std::is_void_v<Steps>) return pull_back_by<Name, void>(operand, own);
      else return pull_back_by<Name, Steps>(operand, Steps::template kept<Name>(operand, own));
    });
  }
}

}  // namespace detail

/// The gradient of the variable `Name` in `node`, from the gradient of `node` itself: an expression of the variable's
/// extents.
template <int Name, class Node, class Gradient>
auto pull_back(const Node& node, const Gradient& gradient) {
  return detail::pull_back_by<Name, void>(node, gradient);
}

}  // namespace tenon
