// tenon/grad/value_and_gradient.hpp: a value and its gradients, evaluated.
// Of variables, types know where they stand; of plain tensors, every leaf of their type is asked whether it is them.
// Floor 6: may include base, core, expr, plan, evaluate, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/evaluate.hpp>
#include <tenon/grad/gradient.hpp>
#include <tenon/grad/named_leaves.hpp>
#include <tenon/grad/shared_passes.hpp>
#include <tenon/plan/sharing.hpp>

namespace tenon {

namespace detail {

/// throws    error where a leaf reads elements of a tensor and is another: a view of a part of it
inline void check_is_apart(const address_range& leaf, const address_range& sought) {
  if (!overlap(leaf, sought)) return;
  throw error(
      "value_and_gradient: the expression reads a tensor of wrt by way of a view; gradients flow through views in a "
      "function: value_and_gradient([](const auto& x) { return ...; }, x)");
}

/// Whether a tensor may be an operand of an expression, as far as types know. No traced value of another shape is it.
template <class Leaf, class Node>
consteval bool may_be_operand() {
  if constexpr (std::is_same_v<typename Node::kind, leaf_kind>) {
    return std::is_same_v<typename Leaf::element, typename Node::element> &&
           (variable_of_node<Node> != traced_variable ||
            std::is_same_v<typename Leaf::shape_type, typename Node::shape_type>);
  } else {
    return []<class... Operands>(std::type_identity<tuple<Operands...>>) {
      return (false || ... || may_be_operand<Leaf, Operands>());
    }(std::type_identity<operands_of<Node>>{});
  }
}

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_absent() {
  throw error(
      "value_and_gradient: a tensor of wrt is no operand of the expression; of what a layer or a traced value reads, "
      "loss.backward() leaves the gradient: v.gradient() of v = variable(x), or that of a parameter");
}

/// The gradient of a tensor in an expression with named leaves: the sum over those leaves that are the tensor.
/// throws    error where none is
template <class Node, class Leaf>
auto evaluated_gradient(const Node& node, const Leaf& sought) {
  using element = typename Leaf::element;
  tensor<element, typename Leaf::shape_type, typename Leaf::space> result(sought.shape());
  bool has_any = false, is_there = false;
  visit_named_leaves(node, [&]<int Name>(constant<Name>, const auto& named) {
    using named_type = std::remove_cvref_t<decltype(named)>;
    const auto must_be_apart = [&] {
      check_is_apart(addresses(block_of(named.view())), addresses(block_of(sought.view())));
    };
    if constexpr (!std::is_same_v<typename named_type::element, element>) {
      return;
    } else if constexpr (!std::is_same_v<typename named_type::shape_type, typename Leaf::shape_type>) {
      if constexpr (depends_on<Name, Node>) must_be_apart();
    } else if (!equal_nodes(sought, Leaf{named.view(), sought.owner})) {
      if constexpr (depends_on<Name, Node>) must_be_apart();
    } else {
      is_there = true;
      if constexpr (depends_on<Name, Node>) {
        const auto share = gradient_of_variable(node, named, constants(shape<>{}, typename Node::element(1)));
        if (has_any) result = result + share;
        else result = share;
        has_any = true;
      }
    }
  });
  if (!is_there) refuse_absent();
  if (!has_any) result = constants(sought.shape(), element(0));
  return result;
}

/// How often the variable `Name` is read.
template <int Name, class Node>
constexpr int count_reads() {
  if constexpr (variable_of_node<Node> == Name) {
    return 1;
  } else {
    return []<class... Operands>(std::type_identity<tuple<Operands...>>) {
      return (0 + ... + count_reads<Name, Operands>());
    }(std::type_identity<operands_of<Node>>{});
  }
}

/// Gradients on the way that several reads of the variable share are computed, and go on as tensors.
struct stored_steps {
  template <int Name, class Node, class Gradient>
  static auto kept(const Node&, const Gradient& gradient) {
    if constexpr (operation_count<Gradient> < 4 || count_reads<Name, Node>() < 2) return gradient;
    else return as_node(evaluated_tensor(gradient));
  }
};

/// How many operations one statement of a gradient may have. Time to compile grows with them, faster than they do.
inline constexpr int most_operations = 500;

/// The gradients of an expression without axes, where what several reads share is stored.
template <class Node, class... Variables>
auto gradients_in_steps(const Node& node, const wrt_variables<Variables...>& named) {
  return apply_tuple(
      [&](const Variables&... variable) {
        return make_tuple_of(
            gradient_of_variable<stored_steps>(node, variable, constants(shape<>{}, typename Node::element(1)))...);
      },
      named.variables);
}

/// Evaluates expressions into new tensors, those that fit each other in one kernel.
template <class... Nodes>
auto evaluate_together(const Nodes&... nodes) {
  auto results =
      make_tuple_of(tensor<typename Nodes::element, typename Nodes::shape_type, concrete_space<typename Nodes::space>>(
          nodes.shape())...);
  const auto each = make_tuple_of(&nodes...);
  [&]<int... I>(std::integer_sequence<int, I...>) {
    using first_node = typename type_list<Nodes...>::template at<0>;
    constexpr bool is_joint = sizeof...(Nodes) > 1 && ((stage_of<Nodes>() == stage::pointwise) && ...) &&
                              ((Nodes::shape_type::rank == first_node::shape_type::rank) && ...);
    if constexpr (is_joint) {
      if (((nodes.shape().to_array() == get<0>(each)->shape().to_array()) && ...)) {
        return evaluate(assign(get<I>(results), nodes)...);
      }
    }
    (static_cast<void>(get<I>(results) = nodes), ...);
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Nodes))>{});
  return results;
}

}  // namespace detail

/// The value of an expression without axes and its gradients: a number and a tensor for each variable or tensor named.
/// cost      the kernels of the value and of each gradient, pointwise gradients of equal extents in one. Plain tensors
///           take one statement to compile for every leaf of their type; variables one in all, and gradients of more
///           than 500 operations several each
/// throws    shape_error where an operand's extent of 1, unknown to types, was repeated; error where the expression
///           reads a plain tensor through a view, such as a slice of it
/// example   const auto [loss, dw, db] = value_and_gradient(mean(square(matmul(x, w) + b - t)), wrt(w, b));
template <tensor_operand Operand, class... Leaves>
auto value_and_gradient(Operand&& operand, const wrt_variables<Leaves...>& named) {
  const auto& node = as_node(std::forward<Operand>(operand));
  using node_type = std::remove_cvref_t<decltype(node)>;
  detail::must_be_without_axes<node_type>();
  const typename node_type::element value = node;
  if constexpr (((detail::variable_of_node<Leaves> >= 0) && ...)) {
    constexpr bool is_long = []<class... Gradients>(std::type_identity<tuple<Gradients...>>) {
      return ((detail::operation_count<Gradients> > detail::most_operations) || ...);
    }(std::type_identity<decltype(gradient(node, named))>{});
    const auto written = [&] {
      if constexpr (is_long) return detail::gradients_in_steps(node, named);
      else return gradient(node, named);
    }();
    auto gradients =
        with_shared_passes([](const auto&... each) { return detail::evaluate_together(each...); }, written);
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return make_tuple_of(value, std::move(get<I>(gradients))...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Leaves))>{});
  } else {
    static_assert((detail::may_be_operand<Leaves, node_type>() && ...) || must_hold<Operand, Leaves...>,
                  "tenon: a tensor of wrt is no operand of this expression; of what a layer or a traced value reads, "
                  "loss.backward() leaves the gradient: v.gradient() of v = variable(x), or that of a parameter");
    const auto whole = with_named_leaves<name_every_leaf>(node);
    return apply_tuple(
        [&](const Leaves&... leaves) { return make_tuple_of(value, detail::evaluated_gradient(whole, leaves)...); },
        named.variables);
  }
}

/// The value of a function of tensors and its gradients in all of them; the function takes expressions and returns one
/// without axes.
/// example   const auto [loss, dw] = value_and_gradient([&](const auto& w) { return sum(square(matmul(x, w))); }, w);
template <class Function, class... Tensors>
  requires(sizeof...(Tensors) != 0 && (tensor_operand<Tensors> && ...) && !tensor_operand<Function>)
auto value_and_gradient(const Function& function, const Tensors&... tensors) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return value_and_gradient(function(variable<I>(tensors)...), wrt(variable<I>(tensors)...));
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Tensors))>{});
}

}  // namespace tenon
