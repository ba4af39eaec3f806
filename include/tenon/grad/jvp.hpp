// tenon/grad/jvp.hpp: derivatives along a direction, of values and of gradients.
// A gradient is linear in the gradient of the result; differentiating it by that gives derivatives without new rules.
// Floor 6: may include base, core, expr, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/grad/gradient.hpp>

namespace tenon {

namespace detail {

/// The name of the gradient of a result, which no expression is left with; users' names are smaller.
inline constexpr int seed_variable = 1 << 30;

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

/// The gradient of the variable named `Name` in `node`, where that is the product of a gradient with a tangent: zeros
/// where there is none.
template <int Name, class Node, class Shape, class Seed>
auto pull_back_or_zero(const Node& node, const Shape& extents, const Seed& seed) {
  if constexpr (depends_on<Name, Node>) return repeat_gradient(pull_back<Name>(node, seed), extents);
  else return constants(extents, typename Node::element(0));
}

/// How the value of `node` changes when a variable moves along its tangent.
template <class Node, class Variable, class Tangent>
auto change_along(const Node& node, const Variable& variable, const Tangent& tangent) {
  must_be_variable<Variable>();
  check_tangent("jvp", variable, tangent);
  constexpr int name = variable_of_node<Variable>;
  if constexpr (depends_on<name, Node>) {
    using seed_leaf =
        leaf<typename Node::element, typename Node::shape_type, typename Variable::space, variable_name<seed_variable>>;
    const seed_leaf seed{{nullptr, node.shape()}, {}};  // nothing reads it: gradients are linear in it
    const auto result =
        pull_back_or_zero<seed_variable>(gradient_of_variable(node, variable, seed), node.shape(), tangent);
    static_assert(!depends_on<seed_variable, std::remove_const_t<decltype(result)>>);
    return result;
  } else {
    return constants(node.shape(), typename Node::element(0));
  }
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
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return (... + detail::change_along(node, get<I>(named.variables), get<I>(along)));
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Variables))>{});
}

namespace detail {

/// The gradient of one variable in the product of all gradients with their tangents.
template <class Variable, class... Gradients, class... Tangents>
auto gradient_of_products(const Variable& variable, const tuple<Gradients...>& gradients,
                          const tuple<Tangents...>& tangents) {
  constexpr int name = variable_of_node<Variable>;
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return (... + pull_back_or_zero<name>(get<I>(gradients), variable.shape(), get<I>(tangents)));
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Gradients))>{});
}

}  // namespace detail

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
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    (detail::check_tangent("hessian_vector_product", get<I>(named.variables), get<I>(along)), ...);
    return make_tuple_of(detail::gradient_of_products(get<I>(named.variables), gradients, along)...);
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Variables))>{});
}

}  // namespace tenon
