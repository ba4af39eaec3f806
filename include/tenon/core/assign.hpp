// tenon/core/assign.hpp: the single name that looks upward: how an expression reaches a destination.
// The evaluator, four floors up, specialises `assigner`; tensors and views only name it.
// Floor 1: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/error.hpp>

namespace tenon {

/// A node of an expression tree: something that is evaluated by assigning it.
template <class E>
concept expression_node = requires { typename E::kind; };

/// Evaluates `Expression` into `Destination`; evaluate.hpp gives the definition.
template <class Destination, class Expression>
struct assigner {
  static_assert(must_hold<Destination, Expression>,
                "tenon: to assign an expression include <tenon/expressions.hpp> or <tenon/tenon.hpp>");
};

}  // namespace tenon
