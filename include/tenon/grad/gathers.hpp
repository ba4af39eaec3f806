// tenon/grad/gathers.hpp: gradients of elements that indices choose: added up where the indices point.
// Only at run time is it known who reads an element, so the sum is an algorithm's; its own gradient is a choice again.
// Floor 6: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/scatter.hpp>
#include <tenon/expr/generate.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/own_pass.hpp>
#include <tenon/expr/views/take.hpp>

namespace tenon {

/// Adds gradients to the elements that `take` or `take_along_axis` chose; elsewhere zero.
template <int Axis, int IndexRank>
struct gather_gradient_algorithm {
  static constexpr const char* name = "scatter_add";
  take_map<Axis, IndexRank> map;

  bool operator==(const gather_gradient_algorithm& other) const { return map.extent == other.map.extent; }
  template <class Target, class Gradient, class Indices>
  void operator()(const Target& target, const Gradient& gradient, const Indices& indices) const {
    using space = typename Target::space;
    target = constants(target.shape(), typename Target::element(0.0f));
    const auto gradients = evaluated_tensor<space>(gradient);
    const auto places = evaluated_tensor<space>(indices);
    if constexpr (chooses_slices<Target::rank, Indices>()) {
      array<index, Target::rank> extents = target.shape().to_array();
      extents[Axis] = places.size();
      index_add(target, axis<Axis>, reshape(places, rank<1>(places.size())),
                reshape(gradients, rank<Target::rank>(extents)));
    } else {
      scatter_add(target, axis<Axis>, broadcast_to(places, gradients.shape()), gradients);
    }
  }

 private:
  /// Whether an index chooses all elements with its position on the axis, as in `take`.
  template <int Rank, class Indices>
  static constexpr bool chooses_slices() {
    using shape_type = typename Indices::shape_type;
    bool result = shape_type::rank == IndexRank + Rank - 1 - Axis;
    for (int behind = IndexRank; result && behind < shape_type::rank; ++behind) {
      result = shape_type::static_extent(behind) == 1;
    }
    return result;
  }
};

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
