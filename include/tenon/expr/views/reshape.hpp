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

/// An axis of extent 1 at position `Axis` of the result.
/// cost      none of its own: strides change
template <int Axis, tensor_operand Operand>
auto new_axis(Operand&& operand) {
  using old_shape = typename std::remove_cvref_t<Operand>::shape_type;
  constexpr int rank = old_shape::rank + 1, position = normalise_axis(Axis, rank);
  static_assert(position >= 0 && position < rank, "tenon: an axis must lie in [-rank, rank)");
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    constexpr auto source = [](int axis) { return axis < position ? axis : axis - 1; };
    using new_shape = shape<(I == position ? 1 : old_shape::static_extent(I == position ? 0 : source(I)))...>;
    const axis_map<rank - 1, rank> map{{}, {{(I == position ? -1 : source(I))...}}, {{(I == position ? 0 : 1)...}}};
    const array<index, rank> extents{{(I == position ? 1 : operand.shape().extent(I == position ? 0 : source(I)))...}};
    return make_index_map(std::forward<Operand>(operand), new_shape(extents), map);
  }(std::make_integer_sequence<int, rank>{});
}

}  // namespace tenon
