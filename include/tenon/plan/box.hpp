// tenon/plan/box.hpp: what the last axes of a shape span: few elements, whose number types know.
// Positions within a box are places, counted in row-major order, which compilers know.
// Floor 3: may include base, core, device, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd.hpp>
#include <tenon/expr/node.hpp>
#include <tenon/plan/access.hpp>

namespace tenon::detail {

/// The longest axis of a box, and the most elements that it has.
inline constexpr index longest_box_axis = 16, most_in_box = 16;

/// How many axes of a shape stand before the box that ends it.
template <class Shape>
constexpr int axes_before_box() {
  int axis = Shape::rank;
  for (index count = 1; axis > 0; --axis) {
    const index extent = Shape::static_extent(axis - 1);
    count *= extent;
    if (extent < 1 || extent > longest_box_axis || count > most_in_box) break;
  }
  return axis;
}

/// Positions within the boxes of a shape behind its first `Outer` axes: places count them in row-major order.
template <class Shape, int Outer>
struct box {
  static constexpr int rank = Shape::rank - Outer;
  static constexpr array<index, rank> extents = [] {
    array<index, rank> result{};
    for (int axis = 0; axis < rank; ++axis) result[axis] = Shape::static_extent(axis + Outer);
    return result;
  }();
  static constexpr bool is_known = [] {
    bool result = true;
    for (const index extent : extents) result = result && extent > 0;
    return result;
  }();
  static constexpr int count = is_known ? static_cast<int>(count_between(extents, 0, rank)) : 1;

  static constexpr array<index, rank> position(int place) {
    array<index, rank> result{};
    set_position(result, extents, 0, rank, place);
    return result;
  }
  /// The place of a position of at least as many axes, aligned at the back; along an axis of extent 1, its element.
  template <int Rank>
  static constexpr int place(const array<index, Rank>& position) {
    index result = 0;
    for (int axis = 0; axis < rank; ++axis) {
      result = result * extents[axis] + (extents[axis] == 1 ? 0 : position[axis + Rank - rank]);
    }
    return static_cast<int>(result);
  }
};

/// Where the elements of a box lie in memory, from its first one on.
template <class Box>
struct box_layout {
  array<index, Box::count> offsets{};
  bool is_whole = true;  // they lie side by side

  template <int Rank>
  explicit box_layout(const array<index, Rank>& strides) {
    for (int place = 0; place < Box::count; ++place) {
      const auto position = Box::position(place);
      for (int axis = 0; axis < Box::rank; ++axis) offsets[place] += position[axis] * strides[axis + Rank - Box::rank];
      is_whole = is_whole && offsets[place] == place;
    }
  }
};

/// Whether elements of type T are read and written in packs as values of type Value, without conversion.
template <class T, class Value>
inline constexpr bool lie_in_packs = std::is_same_v<T, Value> && std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// Where neighbouring boxes lie along the axes before them: the first, the step from one to the next, and how many of
/// them there are.
template <int Outer>
struct box_places {
  array<index, Outer> first, step;
  index count;

  constexpr array<index, Outer> of(index lane) const {
    array<index, Outer> result = first;
    for (int axis = 0; axis < Outer; ++axis) result[axis] += lane * step[axis];
    return result;
  }
  /// The same along the last axes only.
  template <int Count>
  constexpr box_places<Count> last() const {
    box_places<Count> result{{}, {}, count};
    for (int axis = 0; axis < Count; ++axis) {
      result.first[axis] = first[axis + Outer - Count], result.step[axis] = step[axis + Outer - Count];
    }
    return result;
  }
  /// The place of one lane.
  constexpr box_places one(index lane) const { return {of(lane < count ? lane : 0), {}, 1}; }
};

/// The values of boxes: a pack, or a number, for each place within a box.
template <class V, int Count>
struct box_values {
  V at[Count];
};
template <class V, int Count, class Value>
TENON_INLINE constexpr auto make_box_values(const Value& value) {
  return [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    return box_values<V, Count>{{value(constant<I>{})...}};
  }(std::make_integer_sequence<int, Count>{});
}

/// The boxes of a node behind its first `Outer` axes: `values<Lanes>(places)` are those of neighbouring boxes. `fits`
/// says whether a node has them; one that does not say how has none. `leaves` are pointers to the boxes of memory that
/// it reads at the same places. Where these all `lie_side_by_side` along the last axis before them, or repeat there as
/// types know, `values<Lanes, true>(places)` are the values of as many boxes as lanes along it.
template <class Node, int Outer>
struct boxes_of {
  static constexpr bool fits = false;
  static constexpr int count = 0;
};
/// What all of them say.
template <class Node, int Outer>
struct boxes_base {
  using shape = box<typename Node::shape_type, Outer>;
  using value_type = compute_type<typename Node::element>;
  static constexpr int count = shape::count;
  static constexpr bool lie_apart = false;  // boxes are found one by one: they are best written so
  static constexpr bool is_small = shape::is_known && count <= most_in_box && !is_complex<typename Node::element>;

  /// Whether types know that boxes repeat along an axis before them; a missing axis stands at a number below 0.
  static constexpr bool repeats(int axis) { return axis < 0; }
  /// Boxes that are not read at the same places have none.
  auto leaves() { return tuple<>{}; }
  /// Whether some operands repeat along an axis, so that the values of these are found once for all its positions.
  static constexpr bool shares_operands(int) { return false; }
};

/// The values of the boxes at `places` and of those at the same places further along an axis before them, as a function
/// of how much further. Boxes that repeat there are read once.
template <int Lanes, int Axis, class Boxes, int Outer>
TENON_INLINE auto boxes_along(const Boxes& boxes, const box_places<Outer>& places) {
  if constexpr (Boxes::repeats(Axis)) {
    return [values = boxes.template values<Lanes>(places)](index) -> const auto& { return values; };
  } else if constexpr (requires { boxes.template along<Lanes, Axis>(places); }) {
    return boxes.template along<Lanes, Axis>(places);
  } else {
    return [&boxes, places](index further) __attribute__((always_inline)) {
      box_places<Outer> moved = places;
      moved.first[Axis] += further;
      return boxes.template values<Lanes>(moved);
    };
  }
}
/// The greatest size of the values that a node and its operands have, and of the sums of products.
template <class Node>
constexpr int widest_value() {
  int sums = 0;
  if constexpr (requires { typename Node::accumulator; }) sums = simd::lane_bytes<typename Node::accumulator>;
  return []<class... Operands>(std::type_identity<tuple<Operands...>>, int of_sums) {
    return greatest_size(
        {of_sums, simd::lane_bytes<compute_type<typename Node::element>>, widest_value<Operands>()...});
  }(std::type_identity<operands_of<Node>>{}, sums);
}

}  // namespace tenon::detail
