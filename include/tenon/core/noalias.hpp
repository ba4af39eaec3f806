// tenon/core/noalias.hpp: a destination whose statements need no temporary, because the caller says so.
// The promise is in the type, so that the evaluator leaves out the question instead of asking it.
// Floor 1: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/assign.hpp>

namespace tenon {

/// What `x.noalias()` gives: a view, or a reference to a tensor, that takes expressions without a temporary.
template <class Destination>
struct unaliased {
  Destination destination;

  constexpr explicit unaliased(Destination target) : destination(target) {}
  unaliased(const unaliased&) = default;
  unaliased& operator=(const unaliased&) = delete;  // nothing that has elements

  template <class Expression>
  constexpr void operator=(const Expression& expression) const {
    assigner<unaliased, Expression>::assign(destination, expression);
  }
};

}  // namespace tenon
