// tenon/grad/views.hpp: gradients of views: where an element was read, its gradient comes back.
// Renamed axes are undone by the inverse, windows of the host added up in place; others gather every place that read.
// Floor 6: may include base, core, expr, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/own_pass.hpp>
#include <tenon/expr/views/concatenate.hpp>
#include <tenon/expr/views/diagonal.hpp>
#include <tenon/expr/views/pad.hpp>
#include <tenon/expr/views/roll.hpp>
#include <tenon/expr/views/select.hpp>
#include <tenon/expr/views/split.hpp>
#include <tenon/grad/fit.hpp>

namespace tenon {

namespace detail {

/// The axis of a result that moves along `axis` of the operand, the `which`-th of them; -1 where there is none.
template <int... Targets>
TENON_HOST_DEVICE constexpr int axis_moving_along(moved_axes<Targets...>, int axis, int which = 0) {
  constexpr int targets[] = {Targets..., -1};  // one more, so that rank 0 has a first
  for (int j = 0; j < static_cast<int>(sizeof...(Targets)); ++j) {
    if (targets[j] == axis && which-- == 0) return j;
  }
  return -1;
}

/// Whether axis `j` of a result is not given by a position of the operand: it repeats, or is not the first on its axis.
template <int... Targets>
TENON_HOST_DEVICE constexpr bool is_free_axis(moved_axes<Targets...> axes, int j) {
  constexpr int targets[] = {Targets..., -1};
  return targets[j] < 0 || axis_moving_along(axes, targets[j]) != j;
}

template <int... Targets>
TENON_HOST_DEVICE constexpr int free_axis_count(moved_axes<Targets...> axes) {
  int count = 0;
  for (int j = 0; j < static_cast<int>(sizeof...(Targets)); ++j) count += is_free_axis(axes, j) ? 1 : 0;
  return count;
}

}  // namespace detail

/// From positions of an operand, and of the free axes of a view of it, to positions of the view.
template <class T, int Rank, class Axes, int ViewRank>
struct gathering_map {
  axis_map<Rank, ViewRank> map;
  array<index, ViewRank> extents;
  T outside{};

  template <int Count>
  TENON_HOST_DEVICE array<index, ViewRank> operator()(const array<index, Count>& position) const {
    array<index, ViewRank> result{};
    const auto rest = spread_free(position, result);
    for (int axis = 0; axis < Rank; ++axis) {
      const int j = detail::axis_moving_along(Axes{}, axis);
      if (j >= 0 && map.step[j] != 0) result[j] = rest[axis] / map.step[j];
    }
    return result;
  }
  template <int Count>
  TENON_HOST_DEVICE bool contains(const array<index, Count>& position) const {
    array<index, ViewRank> result{};
    const auto rest = spread_free(position, result);
    bool inside = true;
    for (int axis = 0; axis < Rank; ++axis) {
      const int j = detail::axis_moving_along(Axes{}, axis);
      const index step = j < 0 ? 0 : map.step[j];
      if (step == 0) {
        inside = inside && rest[axis] == 0;
      } else {
        const index place = rest[axis] / step;
        inside = inside && place * step == rest[axis] && place >= 0 && place < extents[j];
      }
    }
    return inside;
  }

 private:
  /// Fills the free axes of a view's position and returns what they leave of the operand's.
  template <int Count>
  TENON_HOST_DEVICE array<index, Rank> spread_free(const array<index, Count>& position,
                                                   array<index, ViewRank>& result) const {
    array<index, Rank> rest{};
    for (int axis = 0; axis < Rank; ++axis) rest[axis] = position[axis] - map.start[axis];
    for (int j = 0, next = Rank; j < ViewRank; ++j) {
      if (!detail::is_free_axis(Axes{}, j)) continue;
      result[j] = position[next++];
      if (map.target[j] >= 0) rest[map.target[j]] -= map.step[j] * result[j];
    }
    return rest;
  }
};

/// Maps positions of an operand to positions of its diagonal. Elements beside the diagonal are zero.
template <class T, int Row, int Column>
struct filled_diagonal_map {
  diagonal_map<Row, Column> diagonal;
  index length;
  T outside{};

  template <int Rank>
  TENON_HOST_DEVICE array<index, Rank - 1> operator()(const array<index, Rank>& position) const {
    array<index, Rank - 1> result{};
    for (int axis = 0, next = 0; axis < Rank; ++axis) {
      if (axis != Row && axis != Column) result[next++] = position[axis];
    }
    result[Rank - 2] = position[Row] - diagonal.row;
    return result;
  }
  template <int Rank>
  TENON_HOST_DEVICE bool contains(const array<index, Rank>& position) const {
    const index place = position[Row] - diagonal.row;
    return place == position[Column] - diagonal.column && place >= 0 && place < length;
  }
};

/// The inverse of `gathering_map`: maps positions of a view to the positions that read them.
template <int Rank, class Axes, int ViewRank>
struct spreading_map {
  axis_map<Rank, ViewRank> map;

  TENON_HOST_DEVICE auto operator()(const array<index, ViewRank>& position) const {
    array<index, Rank + detail::free_axis_count(Axes{})> result{};
    for (int axis = 0; axis < Rank; ++axis) result[axis] = map.start[axis];
    for (int j = 0, next = Rank; j < ViewRank; ++j) {
      if (map.target[j] >= 0) result[map.target[j]] += map.step[j] * position[j];
      if (detail::is_free_axis(Axes{}, j)) result[next++] = position[j];
    }
    return result;
  }
};

namespace detail {

/// Whether a gradient of windows is added up in place: of numbers of the host whose sums are as exact as they are, and
/// where no reduction would be computed for each place.
template <class Operand, class Gradient>
inline constexpr bool adds_in_place =
    slot_count<Gradient> == 0 && std::is_same_v<typename Operand::space, host> &&
    std::is_same_v<typename Gradient::space, host> &&
    std::is_same_v<compute_type<typename Gradient::element>, typename Gradient::element>;

/// Adds an expression to elements that lie so behind `first`.
template <class T, int Rank, class Part>
void add_in_place(T* first, const array<index, Rank>& strides, const Part& part) {
  const view<T, tenon::rank<Rank>, host> shown(first, tenon::rank<Rank>(part.shape().to_array()), strides);
  shown.noalias() = shown + part;
}
/// Calls `body(first, part)` with parts of a gradient along axis 0 whose elements of the target stay in a cache.
template <class Target, class Gradient, class Body>
void for_each_batch(const Target& target, const Gradient& gradient, const Body& body) {
  constexpr index most_elements = 1 << 16;
  const index batches = gradient.shape().extent(0), count = target.shape().count();
  const index together = count == 0 ? 1 : 1 + most_elements * target.extent(0) / count;
  for (index first = 0; first < batches; first += together) {
    body(first, slice(gradient, range(first, first + together < batches ? first + together : batches)));
  }
}

}  // namespace detail

/// The gradient of windows on the host, place after place within them: what all windows were given there is added to
/// the elements that they show. These differ, so each place is a statement.
template <class Axes, int Rank, int ViewRank>
struct window_gradient_algorithm {
  static constexpr const char* name = "window_gradient";
  axis_map<Rank, ViewRank> map;

  bool operator==(const window_gradient_algorithm&) const = default;
  template <class Target, class Gradient>
  void operator()(const Target& target, const Gradient& gradient) const {
    using element = typename Target::element;
    target = element(0.0f);
    const index offset = map.offset(target.strides());
    constexpr bool has_batches =
        ViewRank > 0 && detail::axis_moving_along(Axes{}, 0) == 0 && detail::axis_moving_along(Axes{}, 0, 1) < 0;
    if constexpr (has_batches) {
      detail::for_each_batch(target, gradient, [&](index first, const auto& part) {
        add<ViewRank - 1>(target, offset + first * map.strides(target.strides())[0], part);
      });
    } else {
      add<ViewRank - 1>(target, offset, gradient);
    }
  }

 private:
  /// Adds `part`, which has lost the free axes behind axis `J`, to what is `offset` behind the target's first element.
  template <int J, class Target, class Part>
  void add(const Target& target, index offset, const Part& part) const {
    if constexpr (J < 0) {
      constexpr int rank = Part::shape_type::rank;
      const auto steps = map.strides(target.strides());
      array<index, rank> strides{};
      for (int j = 0, next = 0; j < ViewRank; ++j) {
        if (!detail::is_free_axis(Axes{}, j)) strides[next++] = steps[j];
      }
      detail::add_in_place(target.data() + offset, strides, part);
    } else if constexpr (detail::is_free_axis(Axes{}, J)) {
      const index step = map.strides(target.strides())[J];
      for (index place = 0; place < part.shape().extent(J); ++place) {
        add<J - 1>(target, offset + place * step, select(part, axis<J>, place));
      }
    } else {
      add<J - 1>(target, offset, part);
    }
  }
};

namespace detail {

/// Whether a view shows windows: axes that no position of the operand gives are places within them.
template <int... Targets>
constexpr bool shows_windows(moved_axes<Targets...> axes) {
  return ((Targets >= 0) && ...) && free_axis_count(axes) != 0;
}

/// For each element of an operand, the sum of a view's gradient over the places that show it.
template <class Axes, class Operand, class Map, class Gradient>
auto gather_gradient(const Operand& operand, const Map& map, const Gradient& gradient) {
  using operand_shape = typename Operand::shape_type;
  using gradient_shape = typename Gradient::shape_type;
  constexpr int rank = operand_shape::rank, view_rank = gradient_shape::rank, free = free_axis_count(Axes{});
  using element = typename Gradient::element;
  const gathering_map<element, rank, Axes, view_rank> gather{map, gradient.shape().to_array()};
  if constexpr (free == 0) {
    return make_remap(gather, operand.shape(), gradient);
  } else if constexpr (shows_windows(Axes{}) && adds_in_place<Operand, Gradient>) {
    return make_own_pass<element>(window_gradient_algorithm<Axes, rank, view_rank>{map}, operand.shape(), gradient);
  } else {
    array<index, rank + free> extents{};
    for (int axis = 0; axis < rank; ++axis) extents[axis] = operand.shape().extent(axis);
    for (int j = 0, next = rank; j < view_rank; ++j) {
      if (is_free_axis(Axes{}, j)) extents[next++] = gradient.shape().extent(j);
    }
    return [&]<int... I, int... J>(std::integer_sequence<int, I...>, std::integer_sequence<int, J...>) {
      using gathered_shape = shape<operand_shape::static_extent(I)..., (static_cast<void>(J), dyn)...>;
      return sum(make_remap(gather, gathered_shape(extents), gradient), drop<rank + J...>);
    }(std::make_integer_sequence<int, rank>{}, std::make_integer_sequence<int, free>{});
  }
}

/// The axes of an operand, each named by the axis of the view that it became; -1 for those that went.
template <int... Targets, int... I>
constexpr auto inverse_axes(renamed_axes<Targets...>, std::integer_sequence<int, I...>)
    -> renamed_axes<axis_moving_along(moved_axes<Targets...>{}, I)...> {
  return {};
}

template <int... Targets, class Operand, class Gradient>
auto rename_back(renamed_axes<Targets...> axes, const Operand& operand, const Gradient& gradient) {
  constexpr int rank = Operand::shape_type::rank;
  using inverse = decltype(inverse_axes(axes, std::make_integer_sequence<int, rank>{}));
  axis_map<Gradient::shape_type::rank, rank> map{};
  for (int axis = 0; axis < rank; ++axis) {
    map.target[axis] = axis_moving_along(moved_axes<Targets...>{}, axis);
    map.step[axis] = map.target[axis] < 0 ? 0 : 1;
  }
  return make_index_map<inverse>(gradient, operand.shape(), map);
}

}  // namespace detail

/// The gradient of the operand of a view, from the view's.
template <int, class Operand, class Shape, int... Targets, class Gradient>
auto operand_gradient(const index_map<Operand, Shape, renamed_axes<Targets...>>& node, const Gradient& gradient) {
  return detail::rename_back(renamed_axes<Targets...>{}, get<0>(node.operands), gradient);
}
template <int, class Operand, class Shape, int... Targets, class Gradient>
auto operand_gradient(const index_map<Operand, Shape, moved_axes<Targets...>>& node, const Gradient& gradient) {
  return detail::gather_gradient<moved_axes<Targets...>>(get<0>(node.operands), node.map, gradient);
}
template <int, class Operand, class Shape, class Gradient>
auto operand_gradient(const index_map<Operand, Shape, repeated_axes>& node, const Gradient& gradient) {
  return fit_gradient(get<0>(node.operands), node.shape(), gradient);
}
template <int, class Operand, class Shape, class Gradient>
auto operand_gradient(const index_map<Operand, Shape, divided_axes>& node, const Gradient& gradient) {
  return reshape(gradient, get<0>(node.operands).shape());
}

/// Of axes that only the run knows: each of the operand became one of the view, whose others have extent 1.
template <int, class Operand, class Shape, class Gradient>
auto operand_gradient(const index_map<Operand, Shape, unknown_axes>& node, const Gradient& gradient) {
  constexpr int rank = Operand::shape_type::rank;
  axis_map<Shape::rank, rank> inverse{};
  for (int j = 0; j < Shape::rank; ++j) inverse.target[j] = -1;
  for (int j = 0; j < Shape::rank; ++j) {
    if (node.map.target[j] >= 0) inverse.target[node.map.target[j]] = j, inverse.step[node.map.target[j]] = 1;
  }
  return make_index_map<unknown_axes>(gradient, get<0>(node.operands).shape(), inverse);
}

/// The gradient of a window gradient: the windows again.
template <int, class Axes, int Rank, int ViewRank, class T, class Shape, class Operand, class Gradient>
auto operand_gradient(const own_pass<window_gradient_algorithm<Axes, Rank, ViewRank>, T, Shape, Operand>& node,
                      const Gradient& gradient) {
  return make_index_map<Axes>(gradient, get<0>(node.operands).shape(), node.options.map);
}
/// Of gradients of views, whose own gradients are views again.
template <int, class T, int Rank, class Axes, int ViewRank, class Shape, class Operand, class Gradient>
auto operand_gradient(const remap<gathering_map<T, Rank, Axes, ViewRank>, Shape, Operand>& node,
                      const Gradient& gradient) {
  return make_remap(spreading_map<Rank, Axes, ViewRank>{node.map.map}, get<0>(node.operands).shape(), gradient);
}
template <int, int Rank, class Axes, int ViewRank, class Shape, class Operand, class Gradient>
auto operand_gradient(const remap<spreading_map<Rank, Axes, ViewRank>, Shape, Operand>& node,
                      const Gradient& gradient) {
  const gathering_map<typename Gradient::element, Rank, Axes, ViewRank> gather{node.map.map, node.shape().to_array()};
  return make_remap(gather, get<0>(node.operands).shape(), gradient);
}

template <int, int Row, int Column, class Shape, class Operand, class Gradient>
auto operand_gradient(const remap<diagonal_map<Row, Column>, Shape, Operand>& node, const Gradient& gradient) {
  const index length = node.shape().extent(Shape::rank - 1);
  return make_remap(filled_diagonal_map<typename Gradient::element, Row, Column>{node.map, length},
                    get<0>(node.operands).shape(), gradient);
}
template <int, class T, int Row, int Column, class Shape, class Operand, class Gradient>
auto operand_gradient(const remap<filled_diagonal_map<T, Row, Column>, Shape, Operand>& node,
                      const Gradient& gradient) {
  return make_remap(node.map.diagonal, get<0>(node.operands).shape(), gradient);
}

template <int, int Rank, int OperandRank, class Shape, class Operand, class Gradient>
auto operand_gradient(const remap<renumber_map<Rank, OperandRank>, Shape, Operand>& node, const Gradient& gradient) {
  return reshape(gradient, get<0>(node.operands).shape());
}
template <int, class T, int Rank, class Shape, class Operand, class Gradient>
auto operand_gradient(const remap<pad_constant_map<T, Rank>, Shape, Operand>& node, const Gradient& gradient) {
  auto map = identity_map<Rank>();
  map.start = node.map.before;
  return make_index_map<same_moved_axes<Rank>>(gradient, get<0>(node.operands).shape(), map);
}
template <int, int Axis, class Shape, class Operand, class Gradient>
auto operand_gradient(const remap<roll_map<Axis>, Shape, Operand>& node, const Gradient& gradient) {
  return roll(gradient, node.map.advance, axis<Axis>);
}

/// Of operand `I` of several behind each other: its part.
template <int I, int Axis, class Shape, class... Operands, class Gradient>
auto operand_gradient(const concatenation<Axis, Shape, Operands...>& node, const Gradient& gradient) {
  index begin = 0;
  for_each_index<I>([&](auto before) { begin += get<before.value>(node.operands).shape().extent(Axis); });
  return narrow(gradient, axis<Axis>, begin, get<I>(node.operands).shape().extent(Axis));
}

}  // namespace tenon
