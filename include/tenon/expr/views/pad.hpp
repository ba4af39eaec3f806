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

}  // namespace detail

/// `operand` with `widths[a]` more elements along each axis a, all of them `value`.
/// extents   before + extent + after
/// throws    shape_error for negative widths, or a length beyond 64 bits; dtype_error for a value that the operand's
///           integers do not hold
/// example   pad(image, {{0, 0, 1, {0, 1}}}) adds a row above and below and a column to the right, of zeros
template <tensor_operand Operand, dtype Number = typename std::remove_cvref_t<Operand>::element>
constexpr auto pad(Operand&& operand, const array<padding, std::remove_cvref_t<Operand>::shape_type::rank>& widths,
                   Number number = {}) {
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  const auto value = detail::number_as<typename std::remove_cvref_t<Operand>::element>("pad", number);
  const auto axes = detail::pad_axes<rank>(operand.shape().to_array(), widths, "constant", detail::without_limit);
  return make_remap(pad_constant_map<std::remove_const_t<decltype(value)>, rank>{axes.before, axes.operand, value},
                    tenon::rank<rank>(axes.result), as_node(std::forward<Operand>(operand)));
}

/// The same with elements of the operand, as the mode says: `reflect`, `symmetric`, `replicate` or `circular`.
/// throws    shape_error for negative widths, or such that the mode has no element for
template <tensor_operand Operand, padding_mode Mode>
constexpr auto pad(Operand&& operand, const array<padding, std::remove_cvref_t<Operand>::shape_type::rank>& widths,
                   Mode) {
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  const auto axes = detail::pad_axes<rank>(operand.shape().to_array(), widths, Mode::name, Mode::most);
  return make_remap(pad_map<Mode, rank>{axes.before, axes.operand}, tenon::rank<rank>(axes.result),
                    as_node(std::forward<Operand>(operand)));
}

}  // namespace tenon
