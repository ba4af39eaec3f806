// tenon/contraction/plain_convolution.hpp: convolutions whose windows are single elements, as products of matrices.
// Images in memory are then operands as any others, which copies and matrix units take as they lie.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/matrix_memory.hpp>

namespace tenon {

/// Each of the images [groups, n, c, ...] of a plain convolution is a matrix of its own.
template <int Rank>
struct plain_image_axes {
  static constexpr array<int, 2> batches{{0, 1}}, result_batches{{1, 0}};
  static constexpr array<int, 1> rows{{2}};
  static constexpr auto columns = detail::consecutive_axes<Rank>(3);
};

/// The same of results [n, groups, o, ...].
template <int Rank>
struct plain_result_axes {
  static constexpr array<int, 2> batches{{0, 1}}, result_batches = batches;
  static constexpr array<int, 1> rows{{2}};
  static constexpr auto columns = detail::consecutive_axes<Rank>(3);
};

/// A convolution as a contraction of its weight [groups, o, c] with its images.
template <class Node>
struct plain_convolution {
  using element = typename Node::element;
  using accumulator = typename Node::accumulator;
  using shape_type = typename Node::shape_type;
  static constexpr int spatial_axes = Node::spatial_axes;
  using left_axes = typename Node::left_axes;
  using right_axes = plain_image_axes<spatial_axes>;
  using result_axes = plain_result_axes<spatial_axes>;

  const Node& node;

  const shape_type& shape() const { return node.shape(); }
  index depth() const { return node.depth(); }
  auto lower_left() const { return node.lower_left(); }
  auto left_extents() const { return node.left_extents(); }
  auto lower_right() const { return node.lower_image(); }
  auto right_extents() const {
    const auto weight = node.left_extents();
    const auto windows = node.patches().image;
    array<index, spatial_axes + 3> extents{{weight[0], node.shape().extent(0), weight[2]}};
    for (int i = 0; i < spatial_axes; ++i) extents[3 + i] = windows[i];
    return extents;
  }
  auto result_map() const { return node.result_map(); }
  auto result_extents() const { return node.result_extents(); }
};

namespace detail {

template <class Node>
inline constexpr bool is_convolution = false;
template <class Image, class Weight, bool Transposed>
inline constexpr bool is_convolution<convolution<Image, Weight, Transposed>> = true;

template <class Node>
inline constexpr bool is_weight_gradient = false;
template <class Image, class Gradient>
inline constexpr bool is_weight_gradient<weight_gradient_product<Image, Gradient>> = true;

/// Whether the windows of a convolution are the elements of its images.
template <class Node>
bool is_plain(const Node& node) {
  const auto windows = node.patches();
  for (int axis = 0; axis < Node::spatial_axes; ++axis) {
    if (!windows.is_plain(axis)) return false;
  }
  return true;
}

/// Whether the operands of a convolution lie in memory, as far as types know.
template <class Node>
inline constexpr bool lies_in_memory = [] {
  if constexpr (is_convolution<Node>) {
    using plain = plain_convolution<Node>;
    using element = typename Node::element;
    return std::is_same_v<memory_element_of<decltype(left_matrix(std::declval<const plain&>()))>, element> &&
           std::is_same_v<memory_element_of<decltype(right_matrix(std::declval<const plain&>()))>, element>;
  }
  return false;
}();

}  // namespace detail

/// Whether a convolution whose operands lie in memory is a product of matrices for each image.
template <class Node>
bool is_plain_product(const Node& node) {
  return detail::is_plain(node) && memory_of(right_matrix(plain_convolution<Node>{node})).data != nullptr;
}

}  // namespace tenon
