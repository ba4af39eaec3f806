// tenon/algorithms/window_pool.hpp: a convolution and the pool of 2 x 2 behind it as one node.
// Networks of the host are made of it: the convolution is never in memory. On devices two kernels are faster.
// Floor 5: may include base, core, expr, plan, contraction, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/window_pool.hpp>
#include <tenon/expr/own_pass.hpp>

namespace tenon {

/// A convolution, pointwise operations behind it and the max pool of 2 x 2: the greatest values, and their places.
template <class Places>
struct pooled_convolution_algorithm {
  static constexpr const char* name = "pooled_convolution";
  Places places;

  bool operator==(const pooled_convolution_algorithm&) const = default;
  template <class Target, class Node>
  void operator()(const Target& target, const Node& node) const {
    run_pooled_convolution(detail::make_target(target), node, places);
  }
};

/// The node of images [n, c, h, w] that `node` makes, pooled to `extents`, which are [n, c, h / 2, w / 2]. A statement
/// of it may leave the place of each value in its square, 0 to 3, in a view of those extents.
template <class Node, shape_type Shape, class Places = no_places>
auto make_pooled_convolution(const Node& node, const Shape& extents, const Places& places = {}) {
  static_assert(can_pool_in_epilogue<Node> && Shape::rank == 4);
  return make_own_pass<typename Node::element>(pooled_convolution_algorithm<Places>{places}, extents, node);
}
template <class Node, shape_type Shape, class Space>
auto make_pooled_convolution(const Node& node, const Shape& extents, const view<std::uint8_t, Shape, Space>& places) {
  return make_pooled_convolution(node, extents, kept_places<4>{detail::make_target(places)});
}

}  // namespace tenon
