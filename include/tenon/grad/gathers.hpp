// tenon/grad/gathers.hpp: gradients of elements that indices choose: added up where the indices point.
// Only at run time is it known who reads an element, so the sum is an algorithm's; its own gradient is a choice again.
// Floor 6: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/take.hpp>

namespace tenon {

/// Of the operand that indices choose from. Sums of half and bfloat16 are made in float.
/// cost      the gradient and the indices in memory, and the sum in the order of the indices
template <int I, int Axis, int IndexRank, class Shape, class Operand, class Indices, class Gradient>
  requires(I == 0)
auto operand_gradient(const remap<take_map<Axis, IndexRank>, Shape, Operand, Indices>& node, const Gradient& gradient) {
  return make_own_pass<compute_type<typename Gradient::element>>(gather_gradient_algorithm<Axis, IndexRank>{node.map},
                                                                 get<0>(node.operands).shape(), gradient,
                                                                 get<1>(node.operands));
}
template <int I, class T, int Axis, int IndexRank, class Shape, class Operand, class Indices, class Gradient>
  requires(I == 0)
auto operand_gradient(const own_pass<gather_gradient_algorithm<Axis, IndexRank>, T, Shape, Operand, Indices>& node,
                      const Gradient& gradient) {
  return make_remap(node.options.map, get<0>(node.operands).shape(), gradient, get<1>(node.operands));
}

}  // namespace tenon
