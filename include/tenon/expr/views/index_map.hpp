// tenon/expr/views/index_map.hpp: the one node of slices, flips, permutations, new axes and windows of an expression.
// Each moves every axis of its result along at most one axis of the operand, so it fuses by changing strides.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/node.hpp>

namespace tenon {

/// What types know of an `axis_map`, for gradients: axis i of the result moves along axis `Targets[i]` of the operand,
/// or along none (-1).
template <int... Targets>
struct moved_axes {};
/// As moved_axes, where every axis of the operand stays whole and in order: axes change places, and those of extent 1
/// come and go.
template <int... Targets>
struct renamed_axes {};
/// One axis of the operand became two, with all elements in order.
struct divided_axes {};
/// Axes are aligned at the back and extents of 1 are repeated.
struct repeated_axes {};
/// A map of which types know nothing.
struct unknown_axes {};

/// `Operand` seen through an `axis_map`, of which `Axes` says what types know: no elements move.
template <class Operand, shape_type Shape, class Axes>
struct index_map {
  using kind = index_map_kind;
  using element = typename Operand::element;
  using space = typename Operand::space;
  using shape_type = Shape;
  using map_type = axis_map<Operand::shape_type::rank, Shape::rank>;

  tuple<Operand> operands;
  shape_type extents;
  map_type map;

  constexpr const shape_type& shape() const { return extents; }
  /// A number, where no axes are left. cost: a kernel, and a wait for it
  constexpr operator element() const
    requires(Shape::rank == 0)
  {
    return assigner<element, index_map>::value(*this);
  }
  constexpr operator detail::widened<element>() const
    requires(Shape::rank == 0 && is_short_float<element>)
  {
    return assigner<element, index_map>::value(*this);
  }
  template <class Position>
  constexpr auto operator[](const Position& position) const {
    return detail::subscript(*this, position);
  }
  template <class... Parts>
    requires(!std::convertible_to<Parts, index> || ...)
  constexpr auto operator()(const Parts&... parts) const {
    return detail::subscripts(*this, parts...);
  }
  /// This node on other operands of the same extents.
  template <class Other>
  constexpr auto with_operands(const tuple<Other>& others) const {
    return index_map<Other, Shape, Axes>{others, extents, map};
  }

  template <int FirstSlot, int Outer>
  constexpr auto lower(const axis_map<Shape::rank, Outer>& outer) const {
    return get<0>(operands).template lower<FirstSlot>(compose(outer));
  }

 private:
  template <int Outer>
  constexpr axis_map<Operand::shape_type::rank, Outer> compose(const axis_map<Shape::rank, Outer>& outer) const {
    axis_map<Operand::shape_type::rank, Outer> result{map.start, {}, {}};
    for (int axis = 0; axis < Shape::rank; ++axis) {
      if (map.target[axis] >= 0) result.start[map.target[axis]] += map.step[axis] * outer.start[axis];
    }
    for (int j = 0; j < Outer; ++j) {
      const int middle = outer.target[j];
      result.target[j] = middle < 0 ? -1 : map.target[middle];
      result.step[j] = result.target[j] < 0 ? 0 : outer.step[j] * map.step[middle];
    }
    return result;
  }
};

/// A tensor or view stays a view, so that it can be assigned to; any other operand becomes a node.
template <class Axes, class Operand, shape_type Shape, int Rank>
constexpr auto make_index_map(Operand&& operand, const Shape& shape, const axis_map<Rank, Shape::rank>& map) {
  using operand_type = std::remove_cvref_t<Operand>;
  if constexpr (detail::is_view<operand_type>) {
    return remapped_view(operand, shape, map);
  } else if constexpr (detail::is_tensor<operand_type> && std::is_lvalue_reference_v<Operand>) {
    return remapped_view(operand.view(), shape, map);
  } else {
    using node = node_of<Operand>;
    return index_map<node, Shape, Axes>{{{{as_node(std::forward<Operand>(operand))}}}, shape, map};
  }
}

/// As many axes of the result as of the operand, each moving along its own.
template <int... I>
constexpr moved_axes<I...> list_moved_axes(std::integer_sequence<int, I...>) {
  return {};
}
template <int Rank>
using same_moved_axes = decltype(list_moved_axes(std::make_integer_sequence<int, Rank>{}));

/// The elements of a view under other extents and axes, without a copy.
template <class T, class OldShape, class Space, shape_type Shape, int Rank>
constexpr view<T, Shape, Space> remapped_view(const view<T, OldShape, Space>& operand, const Shape& shape,
                                              const axis_map<Rank, Shape::rank>& map) {
  T* data = operand.data();
  if (data != nullptr) data += map.offset(operand.strides());  // where there are no elements, there may be no memory
  return {data, shape, map.strides(operand.strides())};
}

/// The shape with another extent at `Axis`, which the type knows when `Static` is given.
template <int Axis, index Static = dyn, shape_type Shape>
constexpr auto with_extent(const Shape& extents, index extent = Static) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return shape<(I == Axis ? Static : Shape::static_extent(I))...>(
        array<index, Shape::rank>{{(I == Axis ? extent : extents.extent(I))...}});
  }(std::make_integer_sequence<int, Shape::rank>{});
}

}  // namespace tenon
