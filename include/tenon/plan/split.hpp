// tenon/plan/split.hpp: taking a first kernel out of a statement that is more than one.
// An evaluated part comes back as a tensor that the remaining expression reads; kernel_count counts the same way.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tenon/plan/sharing.hpp>
#include <tenon/plan/stages.hpp>
#include <utility>

namespace tenon {

namespace detail {

/// The position of the first true.
template <std::size_t Count>
constexpr int first_of(const bool (&found)[Count]) {
  int position = 0;
  while (!found[position]) ++position;
  return position;
}

/// The first operand of E that holds a contraction, or a reduction where there is no contraction.
template <class E, class Operands = operands_of<E>>
inline constexpr int operand_to_split = 0;
template <class E, class... Operands>
inline constexpr int operand_to_split<E, tuple<Operands...>> =
    first_of({(contraction_count<E> != 0 ? contraction_count<Operands> : slot_count<Operands>) != 0 ...});

/// Whether E is one kernel whose reductions leave nothing of the axes that they fold but extents of 1. Its result is
/// small: keeping it is cheaper than folding again.
template <class E>
constexpr bool is_folded_away() {
  if constexpr (slot_count<E> == 0 || contraction_count<E> != 0) {
    return false;
  } else if constexpr (stage_of<E>() == stage::rows) {
    using shape = typename E::shape_type;
    for (int axis = shape::rank - row_axes<E>(); axis < shape::rank; ++axis) {
      if (shape::static_extent(axis) != 1) return false;
    }
    return true;
  } else {
    return stage_of<E>() == stage::reduce;
  }
}

/// Whether nothing of E is evaluated before it.
template <class E>
constexpr bool has_no_parts() {
  if constexpr (is_own_pass<E>) return true;
  else if constexpr (!fuses_operations) return operation_count<E> == 1;
  else return (is_contraction<E> || is_reduction<E>) && slot_count<E> == 1;
}

/// The part of E that is evaluated first: innermost, contractions before reductions. A contraction's own operand is
/// evaluated whole when it is more than a pointwise tree; so is an algorithm. A reduction's own operand is evaluated
/// whole where other reductions have folded it away.
template <class E, class Operands = operands_of<E>>
struct first_part {
  using type = E;
};
template <class E, class... Operands>
  requires(!has_no_parts<E>())
struct first_part<E, tuple<Operands...>> {
  static constexpr int chosen() {
    if constexpr (!fuses_operations) return first_of({operation_count<Operands> != 0 ...});
    else if constexpr (is_contraction<E>) return first_of({slot_count<Operands> != 0 ...});
    else return operand_to_split<E>;
  }
  using operand = typename type_list<Operands...>::template at<chosen()>;
  static constexpr bool is_whole() {
    if constexpr (fuses_operations && is_reduction<E>) return is_folded_away<operand>();
    else return fuses_operations && is_contraction<E>;
  }
  using type = typename std::conditional_t<is_whole(), std::type_identity<operand>, first_part<operand>>::type;
};
template <class E>
using part_of = typename first_part<E>::type;

/// How often `Part` occurs in E.
template <class Part, class E, class Operands = operands_of<E>>
inline constexpr int occurrences = 0;
template <class Part, class E, class... Operands>
inline constexpr int occurrences<Part, E, tuple<Operands...>> = (0 + ... + occurrences<Part, Operands>);
template <class Part, class... Operands>
inline constexpr int occurrences<Part, Part, tuple<Operands...>> = 1;

/// Writes pointers to the parts of type `Part` of a node to `next` and on, in order.
template <class Part, class E>
void list_parts(const E& node, const Part**& next) {
  if constexpr (std::is_same_v<E, Part>) {
    *next++ = &node;
  } else if constexpr (occurrences<Part, E> != 0) {
    apply_tuple([&](const auto&... operand) { (list_parts(operand, next), ...); }, node.operands);
  }
}

/// How many of `Count` parts of type `Part` are left for operand `I`, and how many of these it has.
template <class Part, int Count, int I, class... Operands>
constexpr int parts_within() {
  constexpr int counts[] = {occurrences<Part, Operands>...};
  int left = Count;
  for (int before = 0; before < I; ++before) left -= counts[before];
  return left < 0 ? 0 : left < counts[I] ? left : counts[I];
}

/// `node` with its first `Count` parts of type `Part` replaced by the values at `next` and on.
template <class Part, int Count, class E, class Value>
decltype(auto) replace_parts(const E& node, const Value*& next);

template <class Part, int Count, class E, class Value, int... I, class... Operands>
auto replace_within(const E& node, const Value*& next,
                    const tuple_base<std::integer_sequence<int, I...>, Operands...>& operands) {
  using replaced = tuple<std::remove_cvref_t<decltype(replace_parts<Part, parts_within<Part, Count, I, Operands...>()>(
      static_cast<const tuple_element<I, Operands>&>(operands).value, next))>...>;
  return node.with_operands(replaced{{{replace_parts<Part, parts_within<Part, Count, I, Operands...>()>(
      static_cast<const tuple_element<I, Operands>&>(operands).value,
      next)}...}});  // in order, which arguments of a call are not
}
template <class Part, int Count, class E, class Value>
decltype(auto) replace_parts(const E& node, const Value*& next) {
  if constexpr (Count == 0) return (node);
  else if constexpr (std::is_same_v<E, Part>) return *next++;
  else return replace_within<Part, Count>(node, next, node.operands);
}

/// Whether the last of several parts stays where no other is equal to it: a contraction takes what is around it as its
/// epilogue.
template <class Part>
inline constexpr bool last_part_stays = is_contraction<Part> && fuses_operations;

/// All parts of one type, and for each the first one that is equal.
template <class Part, int count>
struct found_parts {
  const Part* parts[count];
  unsigned first_equal[count];
};

/// The node of part `k`, whose value goes to `values`; `before` are the nodes of those before it.
template <unsigned k, class Node, class Value, class Part, int count, class Evaluate>
Node node_of_part(const found_parts<Part, count>& found, const Evaluate& evaluate, std::optional<Value>* values,
                  const Node* before) {
  if constexpr (k != 0) {
    if (found.first_equal[k] < k) return before[found.first_equal[k]];
  }
  return as_node(values[k].emplace(evaluate(*found.parts[k])));
}

/// Calls `use(rest)`, the rest being `node` with its first parts, number `k`, replaced by their values.
template <class Part, int count, class E, class Evaluate, class Use, unsigned... k>
void split_off(const E& node, const found_parts<Part, count>& found, const Evaluate& evaluate, const Use& use,
               std::integer_sequence<unsigned, k...>) {
  using value_type = std::remove_cvref_t<decltype(evaluate(*found.parts[0]))>;
  using node_type = std::remove_cvref_t<decltype(as_node(std::declval<value_type&>()))>;
  std::optional<value_type> values[sizeof...(k)];
  const node_type nodes[] = {node_of_part<k>(found, evaluate, values, nodes)...};
  const node_type* next = nodes;
  use(replace_parts<Part, static_cast<int>(sizeof...(k))>(node, next));
}

}  // namespace detail

/// Calls `use(rest)`, the rest being `node` with parts of one type replaced by their values: contractions go first,
/// then reductions, innermost first. `evaluate(part)` is asked once for parts that are equal; what it returns lives
/// until `use` has returned, and its node names it.
template <class E, class Evaluate, class Use>
void split(const E& node, const Evaluate& evaluate, const Use& use) {
  static_assert(stage_of<E>() == stage::split);
  using part_type = detail::part_of<E>;
  constexpr int count = detail::occurrences<part_type, E>;
  detail::found_parts<part_type, count> found{};
  const part_type** last = found.parts;
  detail::list_parts(node, last);
  if constexpr (count == 1) {
    const auto value = evaluate(*found.parts[0]);
    const auto node_of_value = as_node(value);
    const auto* next = &node_of_value;
    use(detail::replace_parts<part_type, 1>(node, next));
  } else {
    for (unsigned k = 1; k < count; ++k) {
      unsigned& first = found.first_equal[k];
      while (first != k && !equal_nodes(*found.parts[first], *found.parts[k])) ++first;
    }
    if constexpr (detail::last_part_stays<part_type>) {
      if (found.first_equal[count - 1] == count - 1) {
        return detail::split_off(node, found, evaluate, use, std::make_integer_sequence<unsigned, count - 1>());
      }
    }
    detail::split_off(node, found, evaluate, use, std::make_integer_sequence<unsigned, count>());
  }
}

/// What a part becomes once it is evaluated: the elements of a tensor.
template <class Part, class Space>
using evaluated = node_of<tensor<typename Part::element, typename Part::shape_type, Space>&>;

template <class E>
constexpr int count_kernels();

namespace detail {

template <class Space>
using concrete_space = std::conditional_t<std::is_same_v<Space, any_space>, host, Space>;

/// How many of its first parts E loses at a time, where they are all different, and what is left of it.
template <class E>
constexpr int count_first_parts() {
  constexpr int count = occurrences<part_of<E>, E>;
  return count > 1 && last_part_stays<part_of<E>> ? count - 1 : count;
}
template <class E, class Part = part_of<E>>
using rest_of = std::remove_cvref_t<decltype(replace_parts<Part, count_first_parts<E>()>(
    std::declval<const E&>(), std::declval<const evaluated<Part, concrete_space<typename Part::space>>*&>()))>;

}  // namespace detail

template <class E>
constexpr int count_kernels() {
  if constexpr (stage_of<E>() == stage::split) {
    return detail::count_first_parts<E>() * count_kernels<detail::part_of<E>>() + count_kernels<detail::rest_of<E>>();
  } else {
    return 1;
  }
}

/// How many kernels a statement of this expression type runs at most, when its destination overlaps none of its
/// operands at other positions; a compile-time fact. What a contraction copies first is not counted. Fewer run where
/// one, or a reduction that needs a kernel of its own, is written twice with the same operands: it is computed once.
template <class E>
inline constexpr int kernel_count = count_kernels<std::remove_cvref_t<E>>();

}  // namespace tenon
