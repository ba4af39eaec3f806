// tenon/expr/views/diagonal.hpp: the elements whose two positions differ by a fixed amount.
// For a tensor it is a view whose stride is the sum of two. For an expression, one position gives both.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/checked_arithmetic.hpp>
#include <tenon/expr/views/remap.hpp>

namespace tenon {

/// The last axis of the result moves along `Row` and `Column` of the operand at once.
template <int Row, int Column>
struct diagonal_map {
  index row, column;  // where the diagonal begins

  template <int Rank>
  TENON_HOST_DEVICE constexpr array<index, Rank + 1> operator()(const array<index, Rank>& position) const {
    array<index, Rank + 1> result{};
    int next = 0;
    for (int axis = 0; axis <= Rank; ++axis) {
      if (axis == Row) {
        result[axis] = row + position[Rank - 1];
      } else if (axis == Column) {
        result[axis] = column + position[Rank - 1];
      } else {
        result[axis] = position[next++];
      }
    }
    return result;
  }
};

namespace detail {

/// The axis that is number `axis` among those beside a diagonal of two others.
template <int Row, int Column>
constexpr int axis_beside_diagonal(int axis) {
  constexpr int first = Row < Column ? Row : Column, second = Row < Column ? Column : Row;
  return axis + (axis >= first ? 1 : 0) + (axis + 1 >= second ? 1 : 0);
}

/// The extents of the diagonals: the other axes, then the diagonal's length.
template <int Row, int Column, class Shape>
constexpr auto diagonal_shape(const Shape& extents, index length) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return shape<Shape::static_extent(axis_beside_diagonal<Row, Column>(I))..., dyn>(
        array<index, Shape::rank - 1>{{extents.extent(axis_beside_diagonal<Row, Column>(I))..., length}});
  }(std::make_integer_sequence<int, Shape::rank - 2>{});
}

}  // namespace detail

/// The diagonal of two axes, which starts `offset` columns to the right (to the left, that is below, when negative).
/// The first of the axes counts as rows, the second as columns; their diagonal becomes the last axis.
/// extents   the other axes in order, then the length of the diagonal, 0 when `offset` leaves the matrix
/// cost      none of its own for a tensor or view, and the result can be assigned to
/// example   sum(diagonal(x)) is the trace
template <tensor_operand Operand, int Row = -2, int Column = -1>
constexpr auto diagonal(Operand&& operand, index offset = 0, axis_list<Row, Column> = {}) {
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  constexpr int row = only_axis<rank>(axis_list<Row>{}), column = only_axis<rank>(axis_list<Column>{});
  static_assert(row != column, "tenon: diagonal takes two different axes");
  const index below = operand.shape().extent(row), beside = operand.shape().extent(column);
  const index begin = clamped(offset, -below, beside);  // beyond them no element lies on the diagonal
  const diagonal_map<row, column> map{begin < 0 ? -begin : 0, begin > 0 ? begin : 0};
  const index rows = below - map.row, columns = beside - map.column;
  const index length = rows < columns ? rows : columns;
  const auto extents = detail::diagonal_shape<row, column>(operand.shape(), length < 0 ? 0 : length);
  const auto of_view = [&](const auto& elements) {
    const auto origin = map(array<index, rank - 1>{});
    array<index, rank - 1> strides{};
    for (int axis = 0; axis < rank - 1; ++axis) {
      array<index, rank - 1> next{};
      next[axis] = 1;
      strides[axis] = elements.offset(map(next)) - elements.offset(origin);
    }
    using view_type = std::remove_cvref_t<decltype(elements)>;
    using element = std::remove_pointer_t<decltype(elements.data())>;
    return view<element, std::remove_const_t<decltype(extents)>, typename view_type::space>(
        elements.data() + (length > 0 ? elements.offset(origin) : 0), extents, strides);
  };
  if constexpr (detail::is_view<std::remove_cvref_t<Operand>>) {
    return of_view(operand);
  } else if constexpr (detail::is_tensor<std::remove_cvref_t<Operand>> && std::is_lvalue_reference_v<Operand>) {
    return of_view(operand.view());
  } else {
    return make_remap(map, extents, as_node(std::forward<Operand>(operand)));
  }
}

}  // namespace tenon
