// tenon/grad/jvp.hpp: derivatives along a direction, of values and of gradients.
// A variable's change is pushed forward by the rules of gradients; those of gradients give second derivatives.
// Floor 6: may include base, core, expr, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/grad/gradient.hpp>

namespace tenon {

namespace detail {

template <int Variables, int Tangents>
consteval void tangents_must_fit() {
  static_assert(Variables == Tangents || must_hold<constant<Variables>, constant<Tangents>>,
                "tenon: there is one tangent for each variable");
}

/// throws    shape_error when a tangent has other extents than its variable
template <class Variable, class Tangent>
void check_tangent(const char* operation, const Variable& variable, const Tangent& tangent) {
  static_assert(Variable::shape_type::rank == Tangent::shape_type::rank || must_hold<Variable, Tangent>,
                "tenon: a tangent has the extents of its variable");
  check_equal_extents(operation, "a tangent", tangent.shape(), "its variable", variable.shape());
}

template <class... Variables, class... Tangents>
void check_tangents(const char* operation, const tuple<Variables...>& variables, const tuple<Tangents...>& tangents) {
  for_each_index<static_cast<int>(sizeof...(Variables))>(
      [&](auto i) { check_tangent(operation, get<i.value>(variables), get<i.value>(tangents)); });
}

/// How the value of `node` changes when a variable moves along its tangent.
template <class Node, class Variable, class Tangent>
auto change_along(const Node& node, const Variable&, const Tangent& tangent) {
  must_be_variable<Variable>();
  constexpr int name = variable_of_node<Variable>;
  if constexpr (depends_on<name, Node>) return repeat_gradient(push_forward<name>(node, tangent), node.shape());
  else return constants(node.shape(), typename Node::element(0));
}

/// How `node` changes when each variable moves along its tangent.
template <class Node, class... Variables, class... Tangents>
auto change_along_all(const Node& node, const tuple<Variables...>& variables, const tuple<Tangents...>& tangents) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return (... + change_along(node, get<I>(variables), get<I>(tangents)));
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Variables))>{});
}

}  // namespace detail

/// How an expression changes, to first order, when the variables move along tangents of their extents (a
/// Jacobian-vector product, forward mode): an expression of the first one's extents.
/// throws    shape_error where extents of a tangent and its variable differ, or as `vjp`
/// cost      as of a gradient; nothing here
/// source    Townsend 2017: A new trick for calculating Jacobian vector products
/// example   const auto v = variable<0>(x); y = jvp(tanh(matmul(v, w)), wrt(v), direction);
template <tensor_operand Operand, class... Variables, tensor_operand... Tangents>
auto jvp(Operand&& operand, const wrt_variables<Variables...>& named, Tangents&&... tangents) {
  detail::tangents_must_fit<sizeof...(Variables), sizeof...(Tangents)>();
  static_assert(!(false || ... || detail::misses_variable<node_of<Operand>, Variables>) || must_hold<Operand>,
                "tenon: a variable of wrt is not in this expression, whose traced values are constants");
  const auto& node = as_node(std::forward<Operand>(operand));
  const auto along = make_tuple_of(as_node(std::forward<Tangents>(tangents))...);
  detail::check_tangents("jvp", named.variables, along);
  return detail::change_along_all(node, named.variables, along);
}

/// The second derivatives of an expression without axes, times tangents of the variables' extents: a tuple of
/// expressions, one for each variable. The Hessian itself is never made.
/// throws    shape_error where extents of a tangent and its variable differ, or as `vjp`
/// cost      as of a gradient of the gradients; nothing here
/// example   const auto [hv] = hessian_vector_product(sum(exp(v) * v), wrt(v), direction);
template <tensor_operand Operand, class... Variables, tensor_operand... Tangents>
auto hessian_vector_product(Operand&& operand, const wrt_variables<Variables...>& named, Tangents&&... tangents) {
  detail::tangents_must_fit<sizeof...(Variables), sizeof...(Tangents)>();
  const auto gradients = gradient(std::forward<Operand>(operand), named);
  const auto along = make_tuple_of(as_node(std::forward<Tangents>(tangents))...);
  detail::check_tangents("hessian_vector_product", named.variables, along);
  return apply_tuple(
      [&](const auto&... gradient) {
        return make_tuple_of(detail::change_along_all(gradient, named.variables, along)...);
      },
      gradients);
}

}  // namespace tenon
