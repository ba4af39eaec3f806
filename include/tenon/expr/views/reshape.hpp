// tenon/expr/views/reshape.hpp: the same elements under other extents.
// Of contiguous elements it is a view; an expression is reshaped by reshaping what it is made of, or evaluated first.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/index_map.hpp>

namespace tenon {

namespace detail {

template <shape_type Shape>
void check_reshape(const array<index, Shape::rank>& extents, index elements, const auto& old_extents) {
  index count = 1;
  for (int axis = 0; axis < Shape::rank; ++axis) count *= extents[axis];
  if (count != elements) {
    throw shape_error(compose_text("reshape: extents ", extents, " hold ", count, " elements, expected ", elements,
                                   " (operand ", old_extents, ")"));
  }
}

}  // namespace detail

/// A contiguous view under other extents.
/// throws    shape_error when the number of elements differs or the elements are not contiguous
template <class T, shape_type Old, memory_space Space, shape_type New>
view<T, New, Space> reshape(const view<T, Old, Space>& operand, const New& extents) {
  detail::check_reshape<New>(extents.to_array(), operand.size(), operand.shape().to_array());
  if (!is_contiguous(operand.shape().to_array(), operand.strides())) {
    throw shape_error(compose_text("reshape: operand: strides ", operand.strides(), " of extents ",
                                   operand.shape().to_array(), " are not contiguous; evaluate it into a tensor first"));
  }
  return {operand.data(), extents};
}

template <class T, shape_type Old, memory_space Space, shape_type New>
view<T, New, Space> reshape(tensor<T, Old, Space>& operand, const New& extents) {
  return reshape(operand.view(), extents);
}
template <class T, shape_type Old, memory_space Space, shape_type New>
view<const T, New, Space> reshape(const tensor<T, Old, Space>& operand, const New& extents) {
  return reshape(operand.view(), extents);
}

namespace detail {

template <class Shape, int Position, class Sequence = std::make_integer_sequence<int, Shape::rank + 1>>
struct inserted_shape;
template <class Shape, int Position, int... I>
struct inserted_shape<Shape, Position, std::integer_sequence<int, I...>> {
  static constexpr index extent(int axis) {
    if (axis == Position) return 1;
    return Shape::static_extent(axis < Position ? axis : axis - 1);
  }
  using type = shape<extent(I)...>;
};

}  // namespace detail

/// An axis of extent 1 at position `Axis` of the result.
/// cost      none of its own: strides change
template <int Axis, tensor_operand Operand>
auto new_axis(Operand&& operand) {
  using old_shape = typename std::remove_cvref_t<Operand>::shape_type;
  constexpr int rank = old_shape::rank + 1, position = normalise_axis(Axis, rank);
  static_assert(position >= 0 && position < rank, "tenon: an axis must lie in [-rank, rank)");
  axis_map<rank - 1, rank> map{};
  array<index, rank> extents{};
  for (int axis = 0; axis < rank; ++axis) {
    const int source = axis < position ? axis : axis - 1;
    map.target[axis] = axis == position ? -1 : source;
    map.step[axis] = axis == position ? 0 : 1;
    extents[axis] = axis == position ? 1 : operand.shape().extent(source);
  }
  using new_shape = typename detail::inserted_shape<old_shape, position>::type;
  return make_index_map(std::forward<Operand>(operand), new_shape(extents), map);
}

}  // namespace tenon
