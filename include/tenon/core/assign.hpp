// tenon/core/assign.hpp: the single name that looks upward: how an expression reaches a destination.
// The evaluator, four floors up, specialises `assigner`; tensors and views only name it.
// Floor 1: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/extents.hpp>
#include <tenon/core/space.hpp>

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

/// The shape and space of what is assigned; those of a number fit everywhere.
template <class Expression>
struct assigned {
  using shape_type = shape<>;
  using space = any_space;
};
template <class Expression>
  requires requires { typename Expression::shape_type; }
struct assigned<Expression> {
  using shape_type = typename Expression::shape_type;
  using space = typename Expression::space;
};

/// Whether a destination has the axes of an expression, save those of which types know that their extent is 1.
template <class Destination, class Shape>
constexpr bool ranks_fit() {
  int needed = Shape::rank;
  for (int axis = 0; axis < Shape::rank; ++axis) needed -= Shape::static_extent(axis) == 1 ? 1 : 0;
  return needed <= Destination::rank;
}

/// Whether static extents of an expression equal the destination's, or are 1; those of axes left out are not compared.
template <class Destination, class Shape>
constexpr bool extents_fit() {
  constexpr int missing = Destination::rank - Shape::rank;
  for (int axis = 0; missing >= 0 && axis < Shape::rank; ++axis) {
    const index expected = Destination::static_extent(axis + missing), extent = Shape::static_extent(axis);
    if (expected != dyn && extent != dyn && extent != 1 && expected != extent) return false;
  }
  return true;
}

/// Whether types know that a destination has the elements of an expression, save axes of extent 1 that are left out.
template <class Destination, class Shape>
constexpr bool elements_agree() {
  int surplus = Shape::rank - Destination::rank, place = 0;
  for (int axis = 0; axis < Shape::rank; ++axis) {
    const index extent = Shape::static_extent(axis);
    if (surplus > 0 && extent == 1) --surplus;
    else if (extent == dyn || place == Destination::rank || Destination::static_extent(place++) != extent) return false;
  }
  return place == Destination::rank;
}

/// Whether a new tensor takes the extents of an expression: as when assigned, but nothing repeats.
template <class Destination, class Shape>
constexpr bool shape_carries_over() {
  return Shape::rank > Destination::rank ? ranks_fit<Destination, Shape>() : shapes_agree<Destination, Shape>();
}

}  // namespace tenon
