// tenon/plan/split.hpp: taking a first kernel out of a statement that is more than one.
// The evaluated part comes back as a tensor that the remaining expression owns; kernel_count counts the same way.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/plan/stages.hpp>

namespace tenon {

namespace detail {

template <class Operand>
constexpr bool holds_first(bool contractions_first) {
  return contractions_first ? count_contractions<Operand>() != 0 : slot_count<Operand> != 0;
}

/// The first operand of E that holds a contraction, or a reduction where there is no contraction.
template <class E>
constexpr int operand_to_split() {
  return []<class... Operands>(std::type_identity<tuple<Operands...>>) {
    const bool found[] = {holds_first<Operands>(count_contractions<E>() != 0)..., true};
    int position = 0;
    while (!found[position]) ++position;
    return position;
  }(std::type_identity<decltype(E::operands)>{});
}

/// An operand of a contraction: evaluated whole when it is more than a pointwise tree.
template <class Operand, class Evaluate>
auto plain_operand(const Operand& operand, Evaluate&& evaluate) {
  if constexpr (slot_count<Operand> == 0) {
    return operand;
  } else {
    return evaluate(operand);
  }
}

template <class E, class Evaluate>
auto split_node(const E& node, Evaluate&& evaluate);

template <int Chosen, class E, class Evaluate, int... I>
auto split_operand(const E& node, Evaluate&& evaluate, std::integer_sequence<int, I...>) {
  const auto replaced = [&]<int Position>(constant<Position>) {
    if constexpr (Position == Chosen) {
      return split_node(get<Position>(node.operands), evaluate);
    } else {
      return get<Position>(node.operands);
    }
  };
  return node.with_operands(make_tuple_of(replaced(constant<I>{})...));
}

template <class E, class Evaluate>
auto split_node(const E& node, Evaluate&& evaluate) {
  if constexpr ((is_contraction<E> || is_reduction<E>) && slot_count<E> == 1) {
    return evaluate(node);
  } else if constexpr (is_contraction<E>) {
    return node.with_operands(apply_tuple(
        [&](const auto&... operand) { return make_tuple_of(plain_operand(operand, evaluate)...); }, node.operands));
  } else {
    constexpr int count = decltype(E::operands)::count;
    return split_operand<operand_to_split<E>()>(node, evaluate, std::make_integer_sequence<int, count>{});
  }
}

}  // namespace detail

/// `node` with one part of it replaced by `evaluate(part)`: contractions go first, then reductions, innermost first.
template <class E, class Evaluate>
auto split(const E& node, Evaluate&& evaluate) {
  static_assert(stage_of<E>() == stage::split);
  return detail::split_node(node, evaluate);
}

/// What a part becomes once it is evaluated: a tensor that the expression owns.
template <class Part, class Space>
using evaluated = node_of<tensor<typename Part::element, typename Part::shape_type, Space>>;

template <class E>
constexpr int count_kernels();

namespace detail {

/// Stands for the evaluator where only types are wanted.
template <class Space>
struct type_evaluator {
  template <class Part>
  evaluated<Part, Space> operator()(const Part&) const;
};

template <class Space>
using concrete_space = std::conditional_t<std::is_same_v<Space, any_space>, host, Space>;

template <class E>
using rest_of =
    decltype(split(std::declval<const E&>(), std::declval<type_evaluator<concrete_space<typename E::space>>>()));

/// Kernels of the parts that one split evaluates.
template <class E>
constexpr int count_parts() {
  if constexpr ((is_contraction<E> || is_reduction<E>) && slot_count<E> == 1) {
    return count_kernels<E>();
  } else {
    return []<class... Operands>(std::type_identity<tuple<Operands...>>) {
      if constexpr (is_contraction<E>) {
        return (0 + ... + (slot_count<Operands> == 0 ? 0 : count_kernels<Operands>()));
      } else {
        constexpr int chosen = operand_to_split<E>();
        return count_parts<typename type_list<Operands...>::template at<chosen>>();
      }
    }(std::type_identity<decltype(E::operands)>{});
  }
}

}  // namespace detail

template <class E>
constexpr int count_kernels() {
  if constexpr (stage_of<E>() == stage::split) {
    return detail::count_parts<E>() + count_kernels<detail::rest_of<E>>();
  } else {
    return 1;
  }
}

/// How many kernels a statement of this expression type runs, when its destination overlaps none of its operands at
/// other positions; a compile-time fact.
template <class E>
inline constexpr int kernel_count = count_kernels<std::remove_cvref_t<E>>();

}  // namespace tenon
