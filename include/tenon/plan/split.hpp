// tenon/plan/split.hpp: taking a first kernel out of a statement that is more than one.
// An evaluated part comes back as a tensor that the remaining expression owns; kernel_count counts the same way.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/plan/sharing.hpp>
#include <tenon/plan/stages.hpp>
#include <vector>

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
  }(std::type_identity<decltype(E::operands)>{});
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
    }(std::type_identity<decltype(E::operands)>{});
  } else {
    return []<class... Operands>(std::type_identity<tuple<Operands...>>) {
      constexpr int chosen = is_contraction<E> ? first_of({slot_count<Operands> != 0 ...}) : operand_to_split<E>();
      using operand = typename type_list<Operands...>::template at<chosen>;
      if constexpr (is_contraction<E>) return std::type_identity<operand>{};
      else return first_part<operand>();
    }(std::type_identity<decltype(E::operands)>{});
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
    }(std::type_identity<decltype(E::operands)>{});
  }
}

/// `node` with every part of type `Part` replaced by what `replacement` makes of it.
template <class Part, class E, class Replacement>
auto replace_parts(const E& node, Replacement& replacement) {
  if constexpr (std::is_same_v<E, Part>) {
    return replacement(node);
  } else if constexpr (count_parts<Part, E>() == 0) {
    return node;
  } else {
    return node.with_operands(
        apply_tuple([&](const auto&... operand) { return make_tuple_of(replace_parts<Part>(operand, replacement)...); },
                    node.operands));
  }
}

/// Evaluates parts; equal ones once.
template <class Part, class Evaluate>
class part_evaluator {
 public:
  using result = decltype(std::declval<Evaluate&>()(std::declval<const Part&>()));

  explicit part_evaluator(Evaluate& evaluate) : evaluate_(evaluate) {}
  result operator()(const Part& part) {
    for (const auto& each : done_) {
      if (equal_nodes(*each.part, part)) return each.value;
    }
    done_.push_back({&part, evaluate_(part)});
    return done_.back().value;
  }

 private:
  struct evaluation {
    const Part* part;
    result value;
  };
  Evaluate& evaluate_;
  std::vector<evaluation> done_;
};

}  // namespace detail

/// `node` with one part of it replaced by `evaluate(part)` wherever it occurs: contractions go first, then reductions,
/// innermost first. Parts of one type go together; those that are equal at run time are evaluated once.
template <class E, class Evaluate>
auto split(const E& node, Evaluate&& evaluate) {
  static_assert(stage_of<E>() == stage::split);
  detail::part_evaluator<detail::part_of<E>, std::remove_reference_t<Evaluate>> evaluator(evaluate);
  return detail::replace_parts<detail::part_of<E>>(node, evaluator);
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

}  // namespace detail

template <class E>
constexpr int count_kernels() {
  if constexpr (stage_of<E>() == stage::split) {
    using part = detail::part_of<E>;
    return detail::count_parts<part, E>() * count_kernels<part>() + count_kernels<detail::rest_of<E>>();
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
