// tenon/contraction/algorithm.hpp: how one of several algorithms is chosen.
// Each says which types and which extents it takes; the first of a list that takes a problem runs it.
// Floor 4: may include base, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/config.hpp>
#include <type_traits>
#include <utility>

namespace tenon {

/// Algorithms in the order in which they are asked. Each is a type with static members:
///
/// name                a literal, which texts call it by
/// can_take<Problem>   whether it fits types; what follows is compiled only where it does
/// takes(problem)      whether it fits extents, strides and the processor; `std::true_type` where types say so alone
/// run(problem)        does all that is asked
template <class... Algorithms>
struct algorithm_list {};

namespace detail {

template <class Algorithm, class Problem>
inline constexpr bool takes_all =
    std::is_same_v<decltype(Algorithm::takes(std::declval<const Problem&>())), std::true_type>;

}  // namespace detail

/// Runs the first algorithm that takes a problem, and returns its name; null, and nothing is done, where none does.
/// Those behind one that takes all problems of a type are not compiled.
template <class Problem>
constexpr const char* run_first(const Problem&, algorithm_list<>) {
  return nullptr;
}
template <class Problem, class First, class... Rest>
TENON_INLINE const char* run_first(const Problem& problem, algorithm_list<First, Rest...>) {
  if constexpr (!First::template can_take<Problem>) {
    return run_first(problem, algorithm_list<Rest...>{});
  } else if constexpr (detail::takes_all<First, Problem>) {
    First::run(problem);
    return First::name;
  } else {
    if (!First::takes(problem)) return run_first(problem, algorithm_list<Rest...>{});
    First::run(problem);
    return First::name;
  }
}

/// The name of the first algorithm that takes a problem; null where none does. Runs nothing.
template <class Problem>
constexpr const char* name_of_first(const Problem&, algorithm_list<>) {
  return nullptr;
}
template <class Problem, class First, class... Rest>
const char* name_of_first(const Problem& problem, algorithm_list<First, Rest...>) {
  if constexpr (!First::template can_take<Problem>) {
    return name_of_first(problem, algorithm_list<Rest...>{});
  } else if constexpr (detail::takes_all<First, Problem>) {
    return First::name;
  } else {
    return First::takes(problem) ? First::name : name_of_first(problem, algorithm_list<Rest...>{});
  }
}

}  // namespace tenon
