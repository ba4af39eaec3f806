// tenon/expr/views/pad.hpp: more elements at the ends of axes: a number, the edge, a mirror image, the other end.
// Each mode is a rule that brings a position beside the operand back into it.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/checked_arithmetic.hpp>
#include <tenon/expr/views/remap.hpp>

namespace tenon {

/// How many elements an axis gets at its front and back.
struct padding {
  index before = 0, after = 0;

  constexpr padding() = default;
  constexpr padding(index both) : before(both), after(both) {}
  constexpr padding(index front, index back) : before(front), after(back) {}
};

/// The mirror image of the operand, without its edge: 3 2 | 1 2 3 | 2 1. At most extent - 1 elements.
struct reflect_padding {
  static constexpr const char* name = "reflect";
  static constexpr index most(index extent) { return extent == 0 ? 0 : extent - 1; }
  TENON_HOST_DEVICE static constexpr index inside(index position, index extent) {
    const index in_front = position < 0 ? -position : position;
    return in_front < extent ? in_front : 2 * (extent - 1) - in_front;
  }
};
/// The mirror image of the operand with its edge: 2 1 | 1 2 3 | 3 2. At most extent elements.
struct symmetric_padding {
  static constexpr const char* name = "symmetric";
  static constexpr index most(index extent) { return extent; }
  TENON_HOST_DEVICE static constexpr index inside(index position, index extent) {
    const index in_front = position < 0 ? -1 - position : position;
    return in_front < extent ? in_front : 2 * extent - 1 - in_front;
  }
};
/// The edge, repeated: 1 1 | 1 2 3 | 3 3.
struct replicate_padding {
  static constexpr const char* name = "replicate";
  static constexpr index most(index extent) { return extent == 0 ? 0 : INT64_MAX; }
  TENON_HOST_DEVICE static constexpr index inside(index position, index extent) {
    return position < 0 ? 0 : position < extent ? position : extent - 1;
  }
};
/// The other end: 2 3 | 1 2 3 | 1 2. At most extent elements.
struct circular_padding {
  static constexpr const char* name = "circular";
  static constexpr index most(index extent) { return extent; }
  TENON_HOST_DEVICE static constexpr index inside(index position, index extent) {
    return position < 0 ? position + extent : position < extent ? position : position - extent;
  }
};
/// A rule for `pad`.
template <class Mode>
concept padding_mode = requires(index number) {
  { Mode::most(number) } -> std::same_as<index>;
  { Mode::inside(number, number) } -> std::same_as<index>;
};

/// Whether places move by one at most, as the modes here have it; of a mode of the user's nothing is known.
template <class Mode>
inline constexpr bool pads_in_runs = std::is_same_v<Mode, reflect_padding> || std::is_same_v<Mode, symmetric_padding> ||
                                     std::is_same_v<Mode, replicate_padding> || std::is_same_v<Mode, circular_padding>;

inline constexpr reflect_padding reflect;
inline constexpr symmetric_padding symmetric;
inline constexpr replicate_padding replicate;
inline constexpr circular_padding circular;

/// Positions beside the operand are brought back by the mode.
template <class Mode, int Rank>
struct pad_map {
  array<index, Rank> before, extents;

  static constexpr bool moves_in_runs(int) { return pads_in_runs<Mode>; }
  constexpr index run_length(index position, int axis) const {
    const index place = position - before[axis], extent = extents[axis];
    if (place >= 0 && place < extent) return extent - place;
    if (!std::is_same_v<Mode, circular_padding>) return 1;
    return place < 0 ? -place : INT64_MAX;
  }
  TENON_HOST_DEVICE constexpr array<index, Rank> operator()(array<index, Rank> position) const {
    for (int axis = 0; axis < Rank; ++axis) {
      position[axis] = Mode::inside(position[axis] - before[axis], extents[axis]);
    }
    return position;
  }
};

/// Positions beside the operand have one value.
template <class T, int Rank>
struct pad_constant_map {
  array<index, Rank> before, extents;
  T outside;

  static constexpr bool moves_in_runs(int) { return true; }
  constexpr index run_length(index position, int axis) const {
    const index place = position - before[axis], extent = extents[axis];
    return place < 0 ? -place : place < extent ? extent - place : INT64_MAX;
  }
  TENON_HOST_DEVICE constexpr bool contains(const array<index, Rank>& position) const {
    bool inside = true;
    for (int axis = 0; axis < Rank; ++axis) {
      inside = inside && position[axis] >= before[axis] && position[axis] - before[axis] < extents[axis];
    }
    return inside;
  }
  TENON_HOST_DEVICE constexpr array<index, Rank> operator()(array<index, Rank> position) const {
    for (int axis = 0; axis < Rank; ++axis) position[axis] -= before[axis];
    return position;
  }
};

namespace detail {

template <int Rank>
struct padded_axes {
  array<index, Rank> before{}, operand{}, result{};
};

template <int Rank>
padded_axes<Rank> pad_axes(const array<index, Rank>& operand, const array<padding, Rank>& widths, const char* mode,
                           index (*most)(index)) {
  padded_axes<Rank> axes{{}, operand, {}};
  for (int axis = 0; axis < Rank; ++axis) {
    const auto [before, after] = widths[axis];
    const index limit = most(operand[axis]);
    const checked_extent length = checked_extent(operand[axis]) + before + after;
    if (!length.fits()) {
      throw shape_error(compose_text("pad: axis ", axis, ": ", before, " before and ", after, " after extent ",
                                     operand[axis], ", expected a length within 64 bits (operand ", operand, ")"));
    }
    if (before < 0 || after < 0 || before > limit || after > limit) {
      throw shape_error(compose_text("pad: axis ", axis, ": ", before, " before and ", after,
                                     " after, expected at least 0",
                                     limit == INT64_MAX ? "" : " and at most " + std::to_string(limit), " for mode ",
                                     mode, " of extent ", operand[axis], " (operand ", operand, ")"));
    }
    axes.before[axis] = before;
    axes.result[axis] = length.value();
  }
  return axes;
}

constexpr index without_limit(index) { return INT64_MAX; }

/// Extents that types know, of which the named ones get `More` further elements; dyn stands for any number.
template <index More, index... Extents, int... Axes>
constexpr auto padded_shape(std::type_identity<shape<Extents...>>, axis_list<Axes...>) {
  constexpr int rank = static_cast<int>(sizeof...(Extents));
  constexpr auto named = axis_set<rank>(axis_list<Axes...>{});
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return std::type_identity<shape<(!named[I] ? Extents : Extents == dyn || More == dyn ? dyn : Extents + More)...>>{};
  }(std::make_integer_sequence<int, rank>{});
}

/// `operand` with `widths` further elements; `Shape` says what types know of the result.
template <class Shape, class Operand, class Outside>
constexpr auto padded(Operand&& operand, const array<padding, Shape::rank>& widths,
                      [[maybe_unused]] const Outside& outside) {
  constexpr int rank = Shape::rank;
  const auto extents = operand.shape().to_array();
  if constexpr (padding_mode<Outside>) {
    const auto axes = pad_axes<rank>(extents, widths, Outside::name, Outside::most);
    return make_remap(pad_map<Outside, rank>{axes.before, extents}, Shape(axes.result),
                      as_node(std::forward<Operand>(operand)));
  } else {
    const auto value = number_as<typename std::remove_cvref_t<Operand>::element>("pad", outside);
    const auto axes = pad_axes<rank>(extents, widths, "constant", without_limit);
    return make_remap(pad_constant_map<std::remove_const_t<decltype(value)>, rank>{axes.before, extents, value},
                      Shape(axes.result), as_node(std::forward<Operand>(operand)));
  }
}

/// The same along named axes only.
template <index More, class Operand, int... Axes, class Outside>
constexpr auto padded_along(Operand&& operand, axis_list<Axes...> axes,
                            const array<padding, static_cast<int>(sizeof...(Axes))>& widths, const Outside& outside) {
  using operand_shape = typename std::remove_cvref_t<Operand>::shape_type;
  using result_shape = typename decltype(padded_shape<More>(std::type_identity<operand_shape>{}, axes))::type;
  constexpr int rank = operand_shape::rank;
  constexpr auto named = axis_set<rank>(axis_list<Axes...>{});
  constexpr int count = [&] {
    int found = 0;
    for (const bool each : named) found += each ? 1 : 0;
    return found;
  }();
  static_assert(count == axes.count || must_hold<axis_list<Axes...>>, "tenon: pad names each axis once");
  array<padding, rank> all{};
  int place = 0;
  ((all[normalise_axis(Axes, rank)] = widths[place++]), ...);
  return padded<result_shape>(std::forward<Operand>(operand), all, outside);
}

}  // namespace detail

/// What `pad` adds: a number, or elements of the operand, by a mode.
template <class Outside>
concept padding_content = dtype<Outside> || padding_mode<Outside>;

/// `operand` with `widths[a]` more elements along each axis a: all of them a number, or elements of the operand, as the
/// mode says: `reflect`, `symmetric`, `replicate` or `circular`.
/// extents   before + extent + after
/// throws    shape_error for negative widths, such that the mode has no element for, or a length beyond 64 bits;
///           dtype_error for a number that the operand's integers do not hold
/// example   pad(image, {{0, 0, 1, {0, 1}}}) adds a row above and below and a column to the right, of zeros
template <tensor_operand Operand, padding_content Outside = typename std::remove_cvref_t<Operand>::element>
constexpr auto pad(Operand&& operand, const array<padding, std::remove_cvref_t<Operand>::shape_type::rank>& widths,
                   Outside outside = {}) {
  using extents = tenon::rank<std::remove_cvref_t<Operand>::shape_type::rank>;
  return detail::padded<extents>(std::forward<Operand>(operand), widths, outside);
}

/// The same along the named axes, one width for each. Types know the extents of the others.
/// example   pad(frames, axis<0>, {{{1, 2}}}, replicate) repeats the first frame once and the last one twice
template <tensor_operand Operand, int... Axes, padding_content Outside = typename std::remove_cvref_t<Operand>::element>
  requires(sizeof...(Axes) > 0)
constexpr auto pad(Operand&& operand, axis_list<Axes...> axes,
                   const array<padding, static_cast<int>(sizeof...(Axes))>& widths, Outside outside = {}) {
  return detail::padded_along<dyn>(std::forward<Operand>(operand), axes, widths, outside);
}

/// `Before` and `After` more elements along each named axis. Types know the extents, where they know the operand's.
/// example   pad<0, 1>(points, axis<1>, 1) takes [n, 3] to homogeneous coordinates
template <index Before, index After, tensor_operand Operand, int... Axes,
          padding_content Outside = typename std::remove_cvref_t<Operand>::element>
  requires(sizeof...(Axes) > 0)
constexpr auto pad(Operand&& operand, axis_list<Axes...> axes, Outside outside = {}) {
  static_assert((Before >= 0 && After >= 0) || must_hold<constant<Before>, constant<After>>,
                "tenon: pad<Before, After> adds 0 elements or more");
  return detail::padded_along<Before + After>(std::forward<Operand>(operand), axes,
                                              filled_array<static_cast<int>(sizeof...(Axes))>(padding(Before, After)),
                                              outside);
}

}  // namespace tenon
