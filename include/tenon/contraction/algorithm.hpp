// tenon/contraction/algorithm.hpp: how one of several algorithms is chosen.
// Each says which types and which extents it takes; the first of a list that takes a problem runs it.
// Floor 4: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/config.hpp>

namespace tenon {

/// Algorithms in the order in which they are asked. Each is a type with static members:
///
/// name                a literal, which texts call it by
/// can_take<Problem>   whether it fits types; what follows is compiled only where it does
/// takes(problem)      whether it fits extents, strides and the processor; left out where types say so alone
/// run(problem)        does all that is asked
template <class... Algorithms>
struct algorithm_list {};

/// Runs the first algorithm that takes a problem and returns its name; returns null and does nothing where none does.
/// Once types alone decide for an algorithm, those behind it are not compiled. With `Runs` false it runs nothing.
template <bool Runs = true, class Problem>
constexpr const char* run_first(const Problem&, algorithm_list<>) {
  return nullptr;
}
template <bool Runs = true, class Problem, class First, class... Rest>
TENON_INLINE const char* run_first(const Problem& problem, algorithm_list<First, Rest...>) {
  constexpr bool fits = First::template can_take<Problem>;
  if constexpr (fits && !requires { First::takes(problem); }) {
    if constexpr (Runs) First::run(problem);
    return First::name;
  } else {
    if constexpr (fits) {
      if (First::takes(problem)) {
        if constexpr (Runs) First::run(problem);
        return First::name;
      }
    }
    return run_first<Runs>(problem, algorithm_list<Rest...>{});
  }
}
template <class Problem, class List>
const char* name_of_first(const Problem& problem, List list) {
  return run_first<false>(problem, list);
}

}  // namespace tenon
