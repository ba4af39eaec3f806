// tenon/plan/split.hpp: taking a first kernel out of a statement that is more than one.
// An evaluated part comes back as a tensor that the remaining expression owns; kernel_count counts the same way.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/plan/sharing.hpp>
#include <tenon/plan/stages.hpp>

namespace tenon {

namespace detail {

template <class Operand>
constexpr bool holds_first(bool contractions_first) {
  return contractions_first ? count_contractions<Operand>() != 0 : slot_count<Operand> != 0;
}

/// The position of the first true.
template <std::size_t Count>
constexpr int first_of(const bool (&found)[Count]) {
  int position = 0;
  while (!found[position]) ++position;
  return position;
}

/// The first operand of E that holds a contraction, or a reduction where there is no contraction.
template <class E>
constexpr int operand_to_split() {
  return []<class... Operands>(std::type_identity<tuple<Operands...>>) {
    return first_of({holds_first<Operands>(count_contractions<E>() != 0)...});
  }(std::type_identity<operands_of<E>>{});
}

/// The part of E that is evaluated first: innermost, contractions before reductions. A contraction's own operand is
/// evaluated whole when it is more than a pointwise tree.
template <class E>
constexpr auto first_part() {
  if constexpr (!fuses_operations ? count_operations<E>() == 1
                                  : (is_contraction<E> || is_reduction<E>) && slot_count<E> == 1) {
    return std::type_identity<E>{};
  } else if constexpr (!fuses_operations) {
    return []<class... Operands>(std::type_identity<tuple<Operands...>>) {
      constexpr int chosen = first_of({count_operations<Operands>() != 0 ...});
      return first_part<typename type_list<Operands...>::template at<chosen>>();
    }(std::type_identity<operands_of<E>>{});
  } else {
    return []<class... Operands>(std::type_identity<tuple<Operands...>>) {
      constexpr int chosen = is_contraction<E> ? first_of({slot_count<Operands> != 0 ...}) : operand_to_split<E>();
      using operand = typename type_list<Operands...>::template at<chosen>;
      if constexpr (is_contraction<E>) return std::type_identity<operand>{};
      else return first_part<operand>();
    }(std::type_identity<operands_of<E>>{});
  }
}
template <class E>
using part_of = typename decltype(first_part<E>())::type;

/// How often `Part` occurs in E.
template <class Part, class E>
constexpr int count_parts() {
  if constexpr (std::is_same_v<E, Part>) {
    return 1;
  } else {
    return []<class... Operands>(std::type_identity<tuple<Operands...>>) {
      return (0 + ... + count_parts<Part, Operands>());
    }(std::type_identity<operands_of<E>>{});
  }
}

/// `node` with every part of type `Part` replaced by `value`.
template <class Part, class E, class Value>
auto replace_parts(const E& node, const Value& value) {
  if constexpr (std::is_same_v<E, Part>) {
    return value;
  } else if constexpr (count_parts<Part, E>() == 0) {
    return node;
  } else {
    return node.with_operands(apply_tuple(
        [&](const auto&... operand) { return make_tuple_of(replace_parts<Part>(operand, value)...); }, node.operands));
  }
}

/// `node` with its first part of type `Part` replaced by `value`.
template <class Part, class E, class Value>
auto replace_first_part(const E& node, const Value& value) {
  if constexpr (std::is_same_v<E, Part>) {
    return value;
  } else {
    return [&]<class... Operands>(const tuple<Operands...>& operands) {
      constexpr int chosen = first_of({count_parts<Part, Operands>() != 0 ...});
      return [&]<int... I>(std::integer_sequence<int, I...>) {
        const auto replaced = [&]<int Position>(constant<Position>) {
          if constexpr (Position == chosen) return replace_first_part<Part>(get<Position>(operands), value);
          else return get<Position>(operands);
        };
        return node.with_operands(make_tuple_of(replaced(constant<I>{})...));
      }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Operands))>{});
    }(node.operands);
  }
}

template <class Part, class E>
const Part& first_part_in(const E& node) {
  if constexpr (std::is_same_v<E, Part>) {
    return node;
  } else {
    return [&]<class... Operands>(const tuple<Operands...>& operands) -> const Part& {
      return first_part_in<Part>(get<first_of({count_parts<Part, Operands>() != 0 ...})>(operands));
    }(node.operands);
  }
}

/// Whether every part of the type of `part` is equal to it.
template <class Part, class E>
bool parts_are_equal(const E& node, const Part& part) {
  if constexpr (std::is_same_v<E, Part>) {
    return equal_nodes(node, part);
  } else if constexpr (count_parts<Part, E>() == 0) {
    return true;
  } else {
    return apply_tuple([&](const auto&... operand) { return (parts_are_equal(operand, part) && ...); }, node.operands);
  }
}

}  // namespace detail

/// Calls `use(rest)`, the rest being `node` with one part of it replaced by `evaluate(part)`: contractions go first,
/// then reductions, innermost first. Where all parts of this type are equal, the one value replaces them all.
template <class E, class Evaluate, class Use>
void split(const E& node, const Evaluate& evaluate, const Use& use) {
  static_assert(stage_of<E>() == stage::split);
  using part_type = detail::part_of<E>;
  const part_type& part = detail::first_part_in<part_type>(node);
  const auto value = evaluate(part);
  if constexpr (detail::count_parts<part_type, E>() > 1) {
    if (detail::parts_are_equal(node, part)) return use(detail::replace_parts<part_type>(node, value));
  }
  use(detail::replace_first_part<part_type>(node, value));
}

/// What a part becomes once it is evaluated: a tensor that the expression owns.
template <class Part, class Space>
using evaluated = node_of<tensor<typename Part::element, typename Part::shape_type, Space>>;

template <class E>
constexpr int count_kernels();

namespace detail {

template <class Space>
using concrete_space = std::conditional_t<std::is_same_v<Space, any_space>, host, Space>;

/// What is left of E when its first part is evaluated.
template <class E, class Part = part_of<E>>
using rest_of = decltype(replace_first_part<Part>(
    std::declval<const E&>(), std::declval<const evaluated<Part, concrete_space<typename Part::space>>&>()));

}  // namespace detail

template <class E>
constexpr int count_kernels() {
  if constexpr (stage_of<E>() == stage::split) {
    return count_kernels<detail::part_of<E>>() + count_kernels<detail::rest_of<E>>();
  } else {
    return 1;
  }
}

/// How many kernels a statement of this expression type runs at most, when its destination overlaps none of its
/// operands at other positions; a compile-time fact. Fewer run where a contraction, or a reduction that needs a kernel
/// of its own, is written twice with the same operands: it is computed once.
template <class E>
inline constexpr int kernel_count = count_kernels<std::remove_cvref_t<E>>();

}  // namespace tenon
