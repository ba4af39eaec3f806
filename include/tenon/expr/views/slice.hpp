// tenon/expr/views/slice.hpp: a regular part of each axis.
// `slice(x, range(1, -1), all_of)` is x[1:-1, :]; the result of slicing a tensor can be assigned to.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/index_map.hpp>

namespace tenon {

/// Stands for an end of the axis, which one depends on the direction of the step.
inline constexpr index open_end = INT64_MAX;

/// Positions `begin`, `begin + step`, ... before `end`; negative ends count from the back, as in Python.
struct range {
  index begin = open_end;
  index end = open_end;
  index step = 1;
  bool must_exist = false;  ///< an empty result is an error

  constexpr range() = default;
  constexpr range(index first, index last, index stride = 1) : begin(first), end(last), step(stride) {}
};

/// A range that types know: along an axis whose extent they know, they know the extent of the part, too.
/// example   slice(poses, all_of, static_range<1, 4>{})
template <index Begin, index End, index Step = 1>
struct static_range {
  static_assert(Step != 0, "tenon: a static_range has any step but 0");
  constexpr operator range() const { return {Begin, End, Step}; }
};

/// A whole axis.
inline constexpr static_range<open_end, open_end> all_of{};

/// One position; the axis keeps an extent of 1.
constexpr range only(index position) {
  const index within = position == open_end ? position - 1 : position;  // both lie beyond every axis
  range result{within, within == -1 ? open_end : within + 1};
  result.must_exist = true;
  return result;
}

namespace detail {

struct resolved_range {
  index begin, count;
};

constexpr bool begins_outside(const range& part, index extent) {
  const bool beyond = part.must_exist ? part.begin >= extent : part.begin > extent;
  return part.begin != open_end && (beyond || part.begin < -extent);
}

constexpr resolved_range resolve(const range& part, int axis, index extent) {
  if (part.step == 0) throw index_error(compose_text("slice: axis ", axis, ": step 0, expected any other"));
  const bool forward = part.step > 0;
  const index lowest = forward ? 0 : -1, highest = forward ? extent : extent - 1;
  const auto bound = [&](index position) {
    const index from_front = position < 0 ? position + extent : position;
    return from_front < lowest ? lowest : from_front > highest ? highest : from_front;
  };
  const index begin = part.begin == open_end ? (forward ? lowest : highest) : bound(part.begin);
  const index end = part.end == open_end ? (forward ? highest : lowest) : bound(part.end);
  const index reach = forward ? end - begin : begin - end;
  if (begins_outside(part, extent)) {
    throw index_error(compose_text("slice: axis ", axis, part.must_exist ? ": position " : ": begin ", part.begin,
                                   ", expected within the extent ", extent));
  }
  const index further = (reach - 1) / part.step;  // negative backwards
  return {begin, reach <= 0 ? 0 : 1 + (forward ? further : -further)};
}

/// What types know of the extent of a part of an axis.
template <index Extent, class Range>
inline constexpr index known_count = dyn;
template <index Extent, index Begin, index End, index Step>
  requires(Extent != dyn)
inline constexpr index known_count<Extent, static_range<Begin, End, Step>> = [] {
  constexpr static_range<Begin, End, Step> part;
  static_assert(!begins_outside(part, Extent) || must_hold<static_range<Begin, End, Step>, left_extent<Extent>>,
                "tenon: a static_range begins within the extent of its axis");
  return resolve(part, 0, Extent).count;
}();

template <int Axis, class Shape, class... Ranges>
constexpr index known_part() {
  if constexpr (Axis >= static_cast<int>(sizeof...(Ranges))) return Shape::static_extent(Axis);
  else return known_count<Shape::static_extent(Axis), typename type_list<Ranges...>::template at<Axis>>;
}

}  // namespace detail

/// The part of `operand` that `ranges` name, one for each axis from the front; missing ones mean whole axes.
/// extents   the number of positions in each range; types know it along a whole axis and of a `static_range`, where
///           they know the operand's
/// throws    index_error for a step of 0 or a begin outside the axis
/// cost      none of its own: strides change
/// example   y = slice(x, range(1, 3), only(0));
template <tensor_operand Operand, std::convertible_to<range>... Ranges>
constexpr auto slice(Operand&& operand, Ranges... ranges) {
  using old_shape = typename std::remove_cvref_t<Operand>::shape_type;
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  static_assert(sizeof...(Ranges) <= rank, "tenon: slice takes at most one range for each axis");
  const range parts[rank + 1] = {ranges...};
  auto map = identity_map<rank>();
  array<index, rank> extents{};
  for (int axis = 0; axis < rank; ++axis) {
    const auto part = detail::resolve(parts[axis], axis, operand.shape().extent(axis));
    extents[axis] = part.count;
    map.start[axis] = part.count == 0 ? 0 : part.begin;
    map.step[axis] = part.count <= 1 ? 1 : parts[axis].step;
  }
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    using new_shape = shape<detail::known_part<I, old_shape, Ranges...>()...>;
    return make_index_map<same_moved_axes<rank>>(std::forward<Operand>(operand), new_shape(extents), map);
  }(std::make_integer_sequence<int, rank>{});
}

}  // namespace tenon
