// tenon/grad/gradient.hpp: gradients as expressions.
// An expression of variables is swept backwards when it is compiled; what comes out fuses like any expression.
// Floor 6: may include base, core, expr, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/generate.hpp>
#include <tenon/grad/pull_back.hpp>

namespace tenon {

/// The leaves that a gradient is taken with respect to.
template <class... Variables>
struct wrt_variables {
  tuple<Variables...> variables;
};

/// Names the variables of a gradient, `gradient(sum(a * b), wrt(a, b))`; `value_and_gradient` takes tensors, too.
template <tensor_operand... Variables>
auto wrt(Variables&&... variables) {
  static_assert(((detail::variable_of_node<node_of<Variables&>> != traced_variable) && ...) || must_hold<Variables...>,
                "tenon: wrt takes numbered variables, variable<0>(x); gradients of traced values are what "
                "loss.backward() leaves: x.gradient() of x = variable(...), and a parameter's gradient");
  return wrt_variables<node_of<Variables&>...>{make_tuple_of(as_node(variables)...)};
}

namespace detail {

template <class Variable>
consteval void must_be_variable() {
  static_assert(variable_of_node<Variable> >= 0 || must_hold<Variable>,
                "tenon: gradients are taken with respect to variables: variable<0>(tensor)");
}

/// Whether an expression is apart from a variable, and its traced values may have been meant to depend on it.
template <class Node, class Variable>
inline constexpr bool misses_variable =
    depends_on<traced_variable, Node> && !depends_on<variable_of_node<Variable>, Node>;

template <class Node>
consteval void must_be_without_axes() {
  static_assert(Node::shape_type::rank == 0 || must_hold<typename Node::shape_type>,
                "tenon: gradient takes an expression without axes, such as a sum; vjp takes others");
}

/// throws    shape_error when a gradient that vjp starts from has other extents than its value
template <class Value, class Seed>
void check_seed(const Value& value, const Seed& seed) {
  static_assert(shapes_agree<Value, Seed>() || must_hold<Value, Seed>,
                "tenon: the gradient that vjp starts from has the extents of the expression");
  check_equal_extents("vjp", "the gradient", seed, "the expression", value);
}

template <class Steps = void, class Node, class Variable, class Seed>
auto gradient_of_variable(const Node& node, const Variable& variable, const Seed& seed) {
  must_be_variable<Variable>();
  constexpr int name = variable_of_node<Variable>;
  if constexpr (depends_on<name, Node>) {
    return repeat_gradient(pull_back_by<name, Steps>(node, seed), variable.shape());
  } else {
    return constants(variable.shape(), typename Variable::element(0));
  }
}

}  // namespace detail

/// The gradients of variables in an expression, given that of the expression's value (a vector-Jacobian product):
/// a tuple of expressions of the variables' extents.
/// throws    shape_error where the gradient has other extents than the expression, or an operand's extent of 1, unknown
///           to types, was repeated
/// example   const auto [dx] = vjp(tanh(matmul(x, w)), gradient, wrt(x));
template <tensor_operand Operand, tensor_operand Seed, class... Variables>
auto vjp(Operand&& operand, Seed&& seed, const wrt_variables<Variables...>& named) {
  const auto& node = as_node(std::forward<Operand>(operand));
  const auto& start = as_node(std::forward<Seed>(seed));
  static_assert(!(false || ... || detail::misses_variable<node_of<Operand>, Variables>) || must_hold<Operand>,
                "tenon: a variable of wrt is not in this expression, whose traced values are constants; make them of "
                "v = variable(x), and loss.backward() leaves v.gradient()");
  detail::check_seed(node.shape(), start.shape());
  return apply_tuple(
      [&](const Variables&... variable) {
        return make_tuple_of(detail::gradient_of_variable(node, variable, start)...);
      },
      named.variables);
}

/// The gradients of variables in an expression without axes: a tuple of expressions of the variables' extents.
/// cost      nothing here; each is a statement like any other, and `evaluate(assign(...), ...)` may join them
/// example   const auto w = variable<0>(weight); const auto [dw] = gradient(mean(square(matmul(x, w) - t)), wrt(w));
template <tensor_operand Operand, class... Variables>
auto gradient(Operand&& operand, const wrt_variables<Variables...>& named) {
  using node = node_of<Operand>;
  detail::must_be_without_axes<node>();
  return vjp(std::forward<Operand>(operand), constants(shape<>{}, typename node::element(1)), named);
}

}  // namespace tenon
