// tenon/grad/repetition.hpp: gradients of views that show elements more than once: repeats, tiles, pads of the operand.
// For each element, the sum over the few places that may show it; those that do not count as zero.
// Floor 6: may include base, core, expr, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/reduce.hpp>
#include <tenon/expr/views/pad.hpp>
#include <tenon/expr/views/repeat.hpp>

namespace tenon {

namespace detail {

/// Along each axis of a padded operand: the element's own place, then every place of the border.
template <class Mode, int Rank>
struct padded_places {
  pad_map<Mode, Rank> map;
  array<index, Rank> extents;  // of the view

  index count(int axis) const { return 1 + extents[axis] - map.extents[axis]; }
  /// The `k`-th place that may show `element`, or -1 where it does not.
  TENON_HOST_DEVICE index place(int axis, index element, index k) const {
    const index before = map.before[axis], extent = map.extents[axis];
    if (k == 0) return element + before;
    const index border = k <= before ? k - 1 : extent + k - 1;
    return Mode::inside(border - before, extent) == element ? border : -1;
  }
  /// The element that a place shows, and the place's number for it.
  TENON_HOST_DEVICE array<index, 2> shown(int axis, index place) const {
    const index before = map.before[axis], extent = map.extents[axis], own = place - before;
    if (own >= 0 && own < extent) return {{own, 0}};
    return {{Mode::inside(own, extent), own < 0 ? place + 1 : place + 1 - extent}};
  }
};

template <int Axis>
struct repeated_places {
  index repeats;

  index count(int axis) const { return axis == Axis ? repeats : 1; }
  TENON_HOST_DEVICE index place(int axis, index element, index k) const {
    return axis == Axis ? element * repeats + k : element;
  }
  TENON_HOST_DEVICE array<index, 2> shown(int axis, index place) const {
    if (axis != Axis) return {{place, 0}};
    return {{place / repeats, place % repeats}};
  }
};

template <int Rank>
struct tiled_places {
  array<index, Rank> operand, view;  // extents

  index count(int axis) const { return operand[axis] == 0 ? 1 : view[axis] / operand[axis]; }
  TENON_HOST_DEVICE index place(int axis, index element, index k) const { return element + k * operand[axis]; }
  TENON_HOST_DEVICE array<index, 2> shown(int axis, index place) const {
    return {{place % operand[axis], place / operand[axis]}};
  }
};

}  // namespace detail

/// From an element and a number for one of the places that may show it to that place.
template <class T, class Places, int Rank>
struct showing_map {
  Places places;
  array<index, Rank> counts;
  T outside{};

  TENON_HOST_DEVICE array<index, Rank> operator()(const array<index, Rank + 1>& position) const {
    array<index, Rank> result{};
    index rest = position[Rank];
    for (int axis = 0; axis < Rank; ++axis) {
      result[axis] = places.place(axis, position[axis], rest % counts[axis]);
      rest /= counts[axis];
    }
    return result;
  }
  TENON_HOST_DEVICE bool contains(const array<index, Rank + 1>& position) const { return is_place((*this)(position)); }
};

/// From a place to the element that it shows and the place's number: the other way round.
template <class Places, int Rank>
struct shown_map {
  Places places;
  array<index, Rank> counts;

  TENON_HOST_DEVICE array<index, Rank + 1> operator()(const array<index, Rank>& position) const {
    array<index, Rank + 1> result{};
    for (int axis = Rank - 1; axis >= 0; --axis) {
      const auto shown = places.shown(axis, position[axis]);
      result[axis] = shown[0];
      result[Rank] = result[Rank] * counts[axis] + shown[1];
    }
    return result;
  }
};

namespace detail {

template <class Operand, class Places, class Gradient>
auto sum_of_places(const Operand& operand, const Places& places, const Gradient& gradient) {
  using operand_shape = typename Operand::shape_type;
  constexpr int rank = operand_shape::rank;
  showing_map<typename Gradient::element, Places, rank> showing{places, {}};
  array<index, rank + 1> extents{};
  extents[rank] = 1;
  for (int axis = 0; axis < rank; ++axis) {
    showing.counts[axis] = places.count(axis);
    extents[axis] = operand.shape().extent(axis);
    extents[rank] *= places.count(axis);
  }
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    using shown_shape = shape<operand_shape::static_extent(I)..., dyn>;
    return sum(make_remap(showing, shown_shape(extents), gradient), drop<rank>);
  }(std::make_integer_sequence<int, rank>{});
}

}  // namespace detail

template <int, class Mode, int Rank, class Shape, class Operand, class Gradient>
auto operand_gradient(const remap<pad_map<Mode, Rank>, Shape, Operand>& node, const Gradient& gradient) {
  return detail::sum_of_places(get<0>(node.operands),
                               detail::padded_places<Mode, Rank>{node.map, node.shape().to_array()}, gradient);
}
template <int, int Axis, class Shape, class Operand, class Gradient>
auto operand_gradient(const remap<repeat_map<Axis>, Shape, Operand>& node, const Gradient& gradient) {
  return detail::sum_of_places(get<0>(node.operands), detail::repeated_places<Axis>{node.map.count}, gradient);
}
template <int, int Rank, class Shape, class Operand, class Gradient>
auto operand_gradient(const remap<tile_map<Rank>, Shape, Operand>& node, const Gradient& gradient) {
  return detail::sum_of_places(get<0>(node.operands),
                               detail::tiled_places<Rank>{node.map.extents, node.shape().to_array()}, gradient);
}

/// Of such gradients: the views again.
template <int, class T, class Places, int Rank, class Shape, class Operand, class Gradient>
auto operand_gradient(const remap<showing_map<T, Places, Rank>, Shape, Operand>& node, const Gradient& gradient) {
  return make_remap(shown_map<Places, Rank>{node.map.places, node.map.counts}, get<0>(node.operands).shape(), gradient);
}
template <int, class Places, int Rank, class Shape, class Operand, class Gradient>
auto operand_gradient(const remap<shown_map<Places, Rank>, Shape, Operand>& node, const Gradient& gradient) {
  return make_remap(showing_map<typename Gradient::element, Places, Rank>{node.map.places, node.map.counts},
                    get<0>(node.operands).shape(), gradient);
}

}  // namespace tenon
