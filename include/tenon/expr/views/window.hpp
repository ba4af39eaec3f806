// tenon/expr/views/window.hpp: sliding windows over the last two axes, or over any.
// Windows overlap in memory, not in copies: pooling is a reduction over their axes.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/index_map.hpp>

namespace tenon {

/// The windows of `Height` x `Width` that start every `step` rows and columns: [..., h, w] becomes
/// [..., p, q, Height, Width].
/// extents   p = (h - Height) / step + 1, q likewise: windows that would overhang are left out
/// throws    shape_error when not even one window fits
template <index Height, index Width, tensor_operand Operand>
auto windows(Operand&& operand, index step) {
  using old_shape = typename std::remove_cvref_t<Operand>::shape_type;
  constexpr int rank = old_shape::rank;
  static_assert(rank >= 2, "tenon: windows slide over the last two axes");
  const index h = operand.shape().extent(rank - 2), w = operand.shape().extent(rank - 1);
  if (step < 1 || h < Height || w < Width) {
    throw shape_error(compose_text("windows: extents ", h, " and ", w, ", expected at least ", Height, " and ", Width,
                                   " (operand ", operand.shape().to_array(), ", step ", step, ")"));
  }
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    using new_shape = shape<old_shape::static_extent(I)..., dyn, dyn, Height, Width>;
    const array<index, rank + 2> extents{
        {operand.shape().extent(I)..., (h - Height) / step + 1, (w - Width) / step + 1, Height, Width}};
    const axis_map<rank, rank + 2> map{{},
                                       {{I..., rank - 2, rank - 1, rank - 2, rank - 1}},
                                       {{(static_cast<void>(I), index{1})..., step, step, 1, 1}}};
    return make_index_map<moved_axes<I..., rank - 2, rank - 1, rank - 2, rank - 1>>(std::forward<Operand>(operand),
                                                                                    new_shape(extents), map);
  }(std::make_integer_sequence<int, rank - 2>{});
}

namespace detail {

/// How many windows of `length` fit along each named axis; the lengths follow behind.
template <int Rank, int Count>
array<index, Rank + Count> window_extents(const array<index, Rank>& extents, const array<int, Count>& axes,
                                          const index (&lengths)[Count], const index (&steps)[Count]) {
  array<index, Rank + Count> result{};
  for (int axis = 0; axis < Rank; ++axis) result[axis] = extents[axis];
  for (int i = 0; i < Count; ++i) {
    const index extent = extents[axes[i]];
    if (steps[i] < 1 || lengths[i] < 1 || extent < lengths[i]) {
      throw shape_error(compose_text("windows: axis ", axes[i], ": extent ", extent, ", expected at least ", lengths[i],
                                     " (operand ", extents, ", step ", steps[i], ")"));
    }
    result[axes[i]] = (extent - lengths[i]) / steps[i] + 1;
    result[Rank + i] = lengths[i];
  }
  return result;
}

}  // namespace detail

/// The windows of the given lengths along the named axes, `steps` apart: window axes follow behind, in the order of
/// their names.
/// extents   (extent - length) / step + 1 windows along a named axis: those that would overhang are left out
/// throws    shape_error when not even one window fits, or for a length or step below 1
/// cost      none of its own: windows overlap in memory
/// example   windows(x, axis<0, 2>, {3, 5}) takes [a, b, c] to [a - 2, b, c - 4, 3, 5]
template <tensor_operand Operand, int... Axes>
auto windows(Operand&& operand, axis_list<Axes...> axes, const index (&lengths)[sizeof...(Axes)],
             const index (&steps)[sizeof...(Axes)]) {
  using old_shape = typename std::remove_cvref_t<Operand>::shape_type;
  constexpr int rank = old_shape::rank, count = static_cast<int>(sizeof...(Axes));
  constexpr auto slides = axis_set<rank>(axis_list<Axes...>{});
  (void)axes;
  const array<int, count> named{{normalise_axis(Axes, rank)...}};
  axis_map<rank, rank + count> map{{}, {}, filled_array<rank + count>(index{1})};
  for (int axis = 0; axis < rank; ++axis) map.target[axis] = axis;
  for (int i = 0; i < count; ++i) map.target[rank + i] = named[i], map.step[named[i]] = steps[i];
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    using new_shape = shape<(slides[I] ? dyn : old_shape::static_extent(I))..., (static_cast<void>(Axes), dyn)...>;
    const new_shape extents(detail::window_extents(operand.shape().to_array(), named, lengths, steps));
    return make_index_map<moved_axes<I..., normalise_axis(Axes, rank)...>>(std::forward<Operand>(operand), extents,
                                                                           map);
  }(std::make_integer_sequence<int, rank>{});
}
template <tensor_operand Operand, int... Axes>
auto windows(Operand&& operand, axis_list<Axes...> axes, const index (&lengths)[sizeof...(Axes)]) {
  constexpr index steps[sizeof...(Axes)] = {(static_cast<void>(Axes), index{1})...};
  return windows(std::forward<Operand>(operand), axes, lengths, steps);
}

}  // namespace tenon
