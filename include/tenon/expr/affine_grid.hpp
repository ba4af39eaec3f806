// tenon/expr/affine_grid.hpp: the places in images that affine transforms name.
// The places of an image before it is transformed are generated: only the matrices lie in memory.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/generate.hpp>
#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/views/reshape.hpp>
#include <tenon/expr/views/select.hpp>

namespace tenon {

namespace detail {

/// From one end of an image to the other: -1 and 1 are its far sides, or the centres of its first and last elements.
template <class Number>
auto places_along(index count, bool align_corners) {
  const auto elements = static_cast<double>(count);
  const double step = !align_corners ? 2 / elements : count > 1 ? 2 / (elements - 1) : 0;
  const double first = !align_corners ? step / 2 - 1 : count > 1 ? -1 : 0;
  return progression<Number>(count, static_cast<Number>(first), static_cast<Number>(step));
}

}  // namespace detail

/// The grid of affine transforms, for `grid_sample`: each place is `theta` times (x, y, 1), where x and y go from one
/// end of an image to the other.
/// extents   [n, h, w, 2] of matrices [n, 2, 3] and the extents [n, c, h, w] of images
/// types     floating, of integers float
/// throws    shape_error where the matrices are not n of two rows and three columns
/// cost      pointwise
/// gradient  yes
/// example   const auto grid = affine_grid(theta, {n, c, h, w});
template <tensor_operand Matrices>
auto affine_grid(Matrices&& theta, const rank<4>& size, bool align_corners = false) {
  using node = node_of<Matrices>;
  using number = compute_type<floating_result::element<node>>;
  static_assert(node::shape_type::rank == 3 || must_hold<node>, "tenon: affine_grid takes matrices [n, 2, 3]");
  const auto matrices = as_node(std::forward<Matrices>(theta));
  const array<index, 3> extents = matrices.shape().to_array(), expected{{size.extent(0), 2, 3}};
  for (int axis = 0; axis < 3; ++axis) {
    if (extents[axis] == expected[axis]) continue;
    throw shape_error(compose_text("affine_grid: axis ", axis, ": extent ", extents[axis], " of the matrices ", extents,
                                   ", expected ", expected));
  }
  const auto x = new_axis<1>(detail::places_along<number>(size.extent(3), align_corners));
  const auto y = new_axis<1>(new_axis<1>(detail::places_along<number>(size.extent(2), align_corners)));
  const auto column = [&](index k) { return new_axis<1>(new_axis<1>(select(matrices, axis<2>, k))); };
  return x * column(0) + y * column(1) + column(2);
}

}  // namespace tenon
