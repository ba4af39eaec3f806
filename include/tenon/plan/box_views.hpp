// tenon/plan/box_views.hpp: values within boxes that are moved, and boxes that are chosen.
// Where the values of a box lie among those of an operand, the run or types know.
// Floor 3: may include base, core, device, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/plan/box_operands.hpp>

namespace tenon {

// The nodes of views, whose headers stand beside this one: what runs a statement knows them by name.
template <int... Targets>
struct moved_axes;
template <int... Targets>
struct renamed_axes;
template <class Operand, shape_type Shape, class Axes>
struct index_map;
template <class Map, shape_type Shape, class Operand, class... Parameters>
struct remap;
template <int Axis>
struct roll_map;
template <class T, int Rank>
struct pad_constant_map;
template <int Axis, int IndexRank>
struct take_map;
template <int Axis, shape_type Shape, class... Operands>
struct concatenation;

namespace detail {

/// Where the values of a box lie among those of an operand's, known at run time.
template <class V, int Count, int Places>
TENON_INLINE auto values_at(const box_values<V, Count>& values, const array<int, Places>& places) {
  return make_box_values<V, Places>([&](auto place)
                                        __attribute__((always_inline)) { return values.at[places[place.value]]; });
}

/// What types know of where the axes of a view lie in its operand.
template <class Axes>
struct known_targets {
  static constexpr array<int, 0> of{};
};
template <int First, int... Others>
struct known_targets<moved_axes<First, Others...>> {
  static constexpr array<int, 1 + sizeof...(Others)> of{{First, Others...}};
};
template <int... Targets>
struct known_targets<renamed_axes<Targets...>> : known_targets<moved_axes<Targets...>> {};

/// Axes that change places, come and go, and parts of them.
template <class Operand, class Shape, class Axes, int Outer>
struct boxes_of<index_map<Operand, Shape, Axes>, Outer> : boxes_base<index_map<Operand, Shape, Axes>, Outer> {
  using node = index_map<Operand, Shape, Axes>;
  using base = boxes_base<node, Outer>;
  using typename base::shape;
  using typename base::value_type;
  static constexpr auto targets = known_targets<Axes>::of;
  static constexpr int before = [] {
    int found = 0;
    for (int axis = 0; axis < Outer && axis < targets.size(); ++axis) found += targets[axis] >= 0 ? 1 : 0;
    return found < Operand::shape_type::rank ? found : Operand::shape_type::rank;
  }();
  static constexpr bool fits = [] {
    bool result = targets.size() == Shape::rank && base::is_small && boxes_of<Operand, before>::fits;
    for (int axis = 0; result && axis < Shape::rank; ++axis) {
      result = targets[axis] < 0 || (targets[axis] < before) == (axis < Outer);
      for (int other = 0; other < axis && axis < Outer; ++other) {
        result = result && (targets[axis] < 0 || targets[axis] != targets[other]);
      }
    }
    return result;
  }();

  static constexpr bool repeats(int axis) {
    return axis < 0 || targets[axis] < 0 || boxes_of<Operand, before>::repeats(targets[axis]);
  }

  boxes_of<Operand, before> operand;
  box_places<before> origin{{}, {}, 0};
  array<int, base::count> within{};

  explicit boxes_of(const node& from) : operand(get<0>(from.operands)) {
    using operand_box = typename boxes_of<Operand, before>::shape;
    for (int axis = 0; axis < Outer; ++axis) {
      if (targets[axis] < 0) continue;
      origin.first[targets[axis]] = from.map.start[targets[axis]];
      origin.step[targets[axis]] = from.extents.extent(axis) == 1 ? 0 : from.map.step[axis];
    }
    for (int place = 0; place < base::count; ++place) {
      const auto own = shape::position(place);
      array<index, operand_box::rank> position{};
      for (int axis = 0; axis < operand_box::rank; ++axis) position[axis] = from.map.start[axis + before];
      for (int axis = 0; axis < shape::rank; ++axis) {
        const int target = targets[axis + Outer] - before;
        if (target >= 0) position[target] += own[axis] * from.map.step[axis + Outer];
      }
      within[place] = operand_box::place(position);
    }
  }
  template <int Lanes, bool = false>
  TENON_INLINE auto values(const box_places<Outer>& places) const {
    box_places<before> own = origin;
    own.count = places.count;
    for (int axis = 0; axis < Outer; ++axis) {
      if (targets[axis] < 0) continue;
      own.first[targets[axis]] += own.step[targets[axis]] * places.first[axis];
      own.step[targets[axis]] *= places.step[axis];
    }
    return values_at(operand.template values<Lanes>(own), within);
  }
};

/// Boxes that lie apart: `box_at` finds each by itself.
template <int Lanes, class Boxes, class BoxAt>
TENON_INLINE auto values_apart(const BoxAt& box_at) {
  using value_type = typename Boxes::value_type;
  using V = simd::pack<value_type, Lanes>;
  constexpr int count = Boxes::count;
  value_type side_by_side[Lanes * count];
  for (int lane = 0; lane < Lanes; ++lane) {
    const auto one = box_at(lane);
    TENON_UNROLL(16)
    for (int place = 0; place < count; ++place) side_by_side[lane * count + place] = one.at[place];
  }
  box_values<V, count> result;
  if constexpr (std::is_same_v<value_type, bool>) {
    for (int place = 0; place < count; ++place) {
      result.at[place] = simd::generate<bool, Lanes>([&](index lane) { return side_by_side[lane * count + place]; });
    }
  } else {
    simd::load_interleaved<Lanes>(result.at, side_by_side);
  }
  return result;
}

template <int Axis, class Shape, class Operand, int Outer>
struct boxes_of<remap<roll_map<Axis>, Shape, Operand>, Outer>
    : boxes_base<remap<roll_map<Axis>, Shape, Operand>, Outer> {
  using node = remap<roll_map<Axis>, Shape, Operand>;
  using base = boxes_base<node, Outer>;
  using typename base::shape;
  static constexpr bool lie_apart = Axis < Outer;
  static constexpr bool fits = base::is_small && boxes_of<Operand, Outer>::fits;

  roll_map<Axis> map;
  boxes_of<Operand, Outer> operand;

  explicit boxes_of(const node& from) : map(from.map), operand(get<0>(from.operands)) {}
  auto leaves() { return operand.leaves(); }
  template <int Lanes, bool SideBySide = false>
  TENON_INLINE auto values(const box_places<Outer>& places) const {
    if constexpr (Axis >= Outer) {
      auto values = operand.template values<Lanes, SideBySide>(places);
      [&]<int... Advance>(std::integer_sequence<int, Advance...>) __attribute__((always_inline)) {
        ((map.advance == Advance + 1 ? void(values = rolled<Advance + 1>(values)) : void()), ...);
      }(std::make_integer_sequence<int, static_cast<int>(Shape::static_extent(Axis)) - 1>{});
      return values;
    } else {
      const auto box_at = [&](index lane) __attribute__((always_inline)) {
        auto one = places.one(lane);
        if (map.extent == 1) one.first[Axis] = 0;
        return operand.template values<1, SideBySide>(box_places<Outer>{map(one.first), {}, 1});
      };
      if constexpr (Lanes == 1) return box_at(0);
      else return values_apart<Lanes, base>(box_at);
    }
  }

 private:
  /// Values by as many positions further as `Advance` says: which lie where, compilers know.
  template <int Advance, class Values>
  TENON_INLINE static Values rolled(const Values& values) {
    return make_box_values<std::remove_cvref_t<decltype(values.at[0])>, base::count>(
        [&](auto place) __attribute__((always_inline)) {
          constexpr roll_map<Axis - Outer> inner{Advance, Shape::static_extent(Axis)};
          return values.at[shape::place(inner(shape::position(place.value)))];
        });
  }
};

/// Boxes between others that hold one number, and values between others within each box. How many stand before those of
/// the operand, the run knows: compilers see a way for each number that types allow.
template <class T, int Rank, class Shape, class Operand, int Outer>
struct boxes_of<remap<pad_constant_map<T, Rank>, Shape, Operand>, Outer>
    : boxes_base<remap<pad_constant_map<T, Rank>, Shape, Operand>, Outer> {
  using node = remap<pad_constant_map<T, Rank>, Shape, Operand>;
  using base = boxes_base<node, Outer>;
  using typename base::shape;
  using typename base::value_type;
  using own_shape = box<typename Operand::shape_type, Outer>;
  /// The last longer axis of a box, or -1, and how many there are.
  static constexpr array<int, 2> longer = [] {
    array<int, 2> found{{-1, 0}};
    for (int axis = 0; axis < shape::rank; ++axis) {
      if (shape::extents[axis] != own_shape::extents[axis]) found = {{axis, found[1] + 1}};
    }
    return found;
  }();
  static constexpr bool fits = base::is_small && boxes_of<Operand, Outer>::fits && longer[1] <= 1;

  pad_constant_map<T, Rank> map;
  array<index, Outer> steps{};
  boxes_of<Operand, Outer> operand;

  explicit boxes_of(const node& from) : map(from.map), operand(get<0>(from.operands)) {
    for (int axis = 0; axis < Outer; ++axis) steps[axis] = from.extents.extent(axis) == 1 ? 0 : 1;
  }
  template <int Lanes, bool = false>
  TENON_INLINE auto values(const box_places<Outer>& places) const {
    box_places<Outer> own = places;
    for (int axis = 0; axis < Outer; ++axis) {
      own.first[axis] = own.first[axis] * steps[axis] - map.before[axis];
      own.step[axis] *= steps[axis];
    }
    if constexpr (Lanes == 1) {
      return lies_within(own.first) ? placed<1>(operand.template values<1>(own)) : outside();
    } else {
      if (lies_within(own.first) && lies_within(own.of(own.count - 1))) [[likely]] {
        return placed<Lanes>(operand.template values<Lanes>(own));
      }
      return values_apart<Lanes, base>([&](index lane) { return values<1>(places.one(lane)); });
    }
  }

 private:
  bool lies_within(const array<index, Outer>& position) const {
    bool inside = true;
    for (int axis = 0; axis < Outer; ++axis)
      inside = inside && position[axis] >= 0 && position[axis] < map.extents[axis];
    return inside;
  }
  auto outside() const {
    using V = simd::pack<value_type, 1>;
    return make_box_values<V, base::count>(
        [&](auto) { return simd::broadcast<value_type, 1>(static_cast<value_type>(map.outside)); });
  }
  template <int Lanes, class Values>
  TENON_INLINE auto placed(const Values& values) const {
    if constexpr (longer[0] < 0) {
      return values;
    } else {
      constexpr int more = static_cast<int>(shape::extents[longer[0]] - own_shape::extents[longer[0]]);
      auto result = placed_behind<0, Lanes>(values);
      [&]<int... Before>(std::integer_sequence<int, Before...>) __attribute__((always_inline)) {
        ((map.before[longer[0] + Outer] == Before + 1 ? void(result = placed_behind<Before + 1, Lanes>(values))
                                                      : void()),
         ...);
      }(std::make_integer_sequence<int, more>{});
      return result;
    }
  }
  static constexpr array<index, shape::rank> moved_back(array<index, shape::rank> position, index before) {
    position[longer[0]] -= before;
    return position;
  }
  template <int Before, int Lanes, class Values>
  TENON_INLINE auto placed_behind(const Values& values) const {
    using V = simd::pack<value_type, Lanes>;
    return make_box_values<V, base::count>([&](auto place) __attribute__((always_inline)) {
      constexpr auto within = moved_back(shape::position(decltype(place)::value), Before);
      if constexpr (within[longer[0]] >= 0 && within[longer[0]] < own_shape::extents[longer[0]]) {
        return values.at[own_shape::place(within)];
      } else {
        return simd::broadcast<value_type, Lanes>(static_cast<value_type>(map.outside));
      }
    });
  }
};

/// Boxes that are taken whole: each index chooses one, from among the axes before it.
template <int Axis, int IndexRank, class Shape, class Operand, class Indices, int Outer>
struct boxes_of<remap<take_map<Axis, IndexRank>, Shape, Operand, Indices>, Outer>
    : boxes_base<remap<take_map<Axis, IndexRank>, Shape, Operand, Indices>, Outer> {
  using node = remap<take_map<Axis, IndexRank>, Shape, Operand, Indices>;
  static constexpr bool lie_apart = true;
  static constexpr int before = outer_axes<Indices, Shape::rank, Outer>;
  static constexpr int of_operand = outer_axes<Operand, Shape::rank - IndexRank + 1, Outer - IndexRank + 1>;
  static constexpr bool fits = Axis + IndexRank <= Outer && boxes_base<node, Outer>::is_small &&
                               boxes_of<Operand, of_operand>::fits && boxes_of<Indices, before>::fits &&
                               boxes_of<Indices, before>::count == 1;

  take_map<Axis, IndexRank> map;
  boxes_of<Operand, of_operand> operand;
  boxes_of<Indices, before> indices;

  explicit boxes_of(const node& from) : map(from.map), operand(get<0>(from.operands)), indices(get<1>(from.operands)) {}
  auto leaves() { return join_tuples(operand.leaves(), indices.leaves()); }
  template <int Lanes, bool SideBySide = false>
  TENON_INLINE auto values(const box_places<Outer>& places) const {
    const auto box_at = [&](index lane) __attribute__((always_inline)) {
      const auto one = places.one(lane);
      const auto chosen = indices.template values<1, SideBySide>(one.template last<before>());
      const auto place = map(one.first, static_cast<index>(chosen.at[0]));
      return operand.template values<1, SideBySide>(box_places<of_operand>{place, {}, 1});
    };
    if constexpr (Lanes == 1) return box_at(0);
    else return values_apart<Lanes, boxes_base<node, Outer>>(box_at);
  }
};

template <int Axis, class Shape, class... Operands, int Outer>
struct boxes_of<concatenation<Axis, Shape, Operands...>, Outer>
    : boxes_base<concatenation<Axis, Shape, Operands...>, Outer> {
  using node = concatenation<Axis, Shape, Operands...>;
  using base = boxes_base<node, Outer>;
  using typename base::shape;
  using typename base::value_type;
  using operand_boxes = tuple<boxes_of<Operands, Outer>...>;
  static constexpr bool fits = Axis >= Outer && base::is_small && (boxes_of<Operands, Outer>::fits && ...);

  operand_boxes operands;

  explicit boxes_of(const node& from) : operands(boxes_of_all(std::type_identity<operand_boxes>{}, from.operands)) {}
  auto leaves() { return leaves_of_all(operands); }
  template <int Lanes, bool SideBySide = false>
  TENON_INLINE auto values(const box_places<Outer>& places) const {
    return apply_tuple(
        [&](const auto&... each) __attribute__((always_inline)) {
          return joined<Lanes>(each.template values<Lanes, SideBySide>(places)...);
        },
        operands);
  }

 private:
  template <int Lanes, class... Values>
  TENON_INLINE auto joined(const Values&... values) const {
    return make_box_values<simd::pack<value_type, Lanes>, base::count>(
        [&](auto place) __attribute__((always_inline)) { return element<0, place.value, 0>(values...); });
  }
  /// The element at `Place` of the operands from number I on, which begin at `Begin`.
  template <int I, int Place, index Begin, class First, class... Rest>
  TENON_INLINE auto element(const First& first, const Rest&... rest) const {
    using from = typename type_list<Operands...>::template at<I>;
    using own = box<typename from::shape_type, Outer>;
    constexpr index end = Begin + own::extents[Axis - Outer];
    constexpr auto position = shape::position(Place);
    if constexpr (position[Axis - Outer] < end) {
      constexpr auto within = [] {
        auto result = shape::position(Place);
        result[Axis - Outer] -= Begin;
        return result;
      }();
      return simd::convert<compute_type<typename from::element>, value_type>(first.at[own::place(within)]);
    } else {
      return element<I + 1, Place, end>(rest...);
    }
  }
};

}  // namespace detail
}  // namespace tenon
