// tenon/linalg/shapes.hpp: the extents of results on matrices, and what their operands must be.
// The last two axes are rows and columns; those before them are a batch, which repeats as in products.
// Floor 7: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/broadcast.hpp>
#include <tenon/expr/node.hpp>

namespace tenon {

namespace detail {

/// `Count` axes of a shape from `First` on, and all but its last `Own` axes.
template <int First, int Count, class Shape>
constexpr auto axes_of_shape(const Shape& extents) {
  array<index, Count> found{};
  for (int axis = 0; axis < Count; ++axis) found[axis] = extents.extent(First + axis);
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return shape<Shape::static_extent(First + I)...>::of_known(found);
  }(std::make_integer_sequence<int, Count>{});
}
template <int Own, class Shape>
constexpr auto leading_extents(const Shape& extents) {
  return axes_of_shape<0, Shape::rank - Own>(extents);
}

/// The extents of a batch, followed by those of what it holds.
template <index... Batch, index... Own>
constexpr auto batch_with(const shape<Batch...>& batch, const shape<Own...>& own) {
  using whole = shape<Batch..., Own...>;
  array<index, whole::rank> extents{};
  for (int axis = 0; axis < static_cast<int>(sizeof...(Batch)); ++axis) extents[axis] = batch.extent(axis);
  for (int axis = 0; axis < static_cast<int>(sizeof...(Own)); ++axis) {
    extents[axis + static_cast<int>(sizeof...(Batch))] = own.extent(axis);
  }
  return whole::of_known(extents);
}

/// The smaller of the last two extents, static where both are.
template <class Shape>
constexpr auto smaller_extent(const Shape& extents) {
  constexpr index rows = Shape::static_extent(Shape::rank - 2), columns = Shape::static_extent(Shape::rank - 1);
  constexpr index known = rows == dyn || columns == dyn ? dyn : rows < columns ? rows : columns;
  const index m = extents.extent(Shape::rank - 2), n = extents.extent(Shape::rank - 1);
  return shape<known>(array<index, 1>{{m < n ? m : n}});
}

template <class Element>
inline constexpr bool has_linear_algebra = std::is_same_v<Element, float> || std::is_same_v<Element, double>;

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_matrix_extents(const char* name, index rows, index columns,
                                                                         extents_view operand) {
  throw shape_error(compose_text(name, ": axes ", operand.rank - 2, " and ", operand.rank - 1, ": extents ", rows,
                                 " and ", columns, ", expected equal (operand ", operand, ")"));
}

/// Refuses what is no matrix of float or double.
template <class Node>
consteval void must_be_matrices() {
  static_assert(Node::shape_type::rank >= 2 || must_hold<Node>,
                "tenon: linear algebra takes matrices: at least two axes");
  static_assert(has_linear_algebra<typename Node::element> || must_hold<typename Node::element>,
                "tenon: linear algebra takes float and double; cast<float>(x) converts");
}

/// Refuses what is no square matrix.
/// throws    shape_error
template <class Node>
void check_square(const char* name, const Node& node) {
  must_be_matrices<Node>();
  using extents = typename Node::shape_type;
  if constexpr (extents::rank >= 2) {
    constexpr index rows = extents::static_extent(extents::rank - 2),
                    columns = extents::static_extent(extents::rank - 1);
    static_assert(
        rows == dyn || columns == dyn || rows == columns || must_hold<left_extent<rows>, right_extent<columns>>,
        "tenon: this takes square matrices: the last two extents are equal");
    const auto found = node.shape().to_array();
    const index m = found[extents::rank - 2], n = found[extents::rank - 1];
    if (m != n) refuse_matrix_extents(name, m, n, {found.begin(), extents::rank});
  }
}

/// How many axes of the right side of `a x = b` are its own: one where it has an axis fewer than `a`.
template <class Left, class Right>
inline constexpr int right_axes = Right::rank + 1 == Left::rank ? 1 : 2;

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_right_side(const char* name, index expected, index found,
                                                                     int axis, extents_view left, extents_view right) {
  throw shape_error(compose_text(name, ": right side: axis ", axis, ": extent ", found, ", expected ", expected,
                                 " (operands ", left, " and ", right, ")"));
}

/// The extents of `x` in `a x = b`.
/// throws    shape_error where the rows differ, or the batches
template <class Operation, class Left, class Right>
TENON_INLINE auto solution_extents(const Left& left, const Right& right) {
  using left_shape = typename Left::shape_type;
  using right_shape = typename Right::shape_type;
  check_square(Operation::name, left);
  static_assert(std::is_same_v<typename Left::element, typename Right::element> ||
                    must_hold<typename Left::element, typename Right::element>,
                "tenon: both sides of a system are float, or both double; cast<double>(x) converts");
  static_assert(right_shape::rank >= 1 || must_hold<right_shape>, "tenon: a right side has at least one axis");
  constexpr int own = right_axes<left_shape, right_shape>, rows_axis = right_shape::rank - own;
  static_assert(
      rows_axis >= 0 || must_hold<right_shape>,
      "tenon: the right side of one matrix has one axis or two, vectors of a batch one fewer than the matrices");
  constexpr index n = left_shape::static_extent(left_shape::rank - 1), rows = right_shape::static_extent(rows_axis);
  static_assert(n == dyn || rows == dyn || n == rows || must_hold<left_extent<n>, right_extent<rows>>,
                "tenon: the right side has as many rows as the matrix");
  if constexpr (n == dyn || rows == dyn || left_shape::rank > 2 || rows_axis > 0) {  // types do not know it all
    const index expected = left.shape().extent(left_shape::rank - 1), found = right.shape().extent(rows_axis);
    const auto left_extents = left.shape().to_array();
    const auto right_extents = right.shape().to_array();
    const extents_view all_left{left_extents.begin(), left_shape::rank},
        all_right{right_extents.begin(), right_shape::rank};
    if (expected != found) refuse_right_side(Operation::name, expected, found, rows_axis, all_left, all_right);
    check_batches(Operation::name, all_left, all_right, {{2, own}});
  }
  return batch_with(broadcast_extents<Operation>(leading_extents<2>(left.shape()), leading_extents<own>(right.shape())),
                    axes_of_shape<rows_axis, own>(right.shape()));
}

}  // namespace detail

}  // namespace tenon
