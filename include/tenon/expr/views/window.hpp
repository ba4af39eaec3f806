// tenon/expr/views/window.hpp: sliding windows over the last two axes, or over any.
// Windows overlap in memory, not in copies: pooling is a reduction over their axes.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/index_map.hpp>
#include <tenon/expr/window_geometry.hpp>

namespace tenon {

namespace detail {

/// How many windows fit along each named axis; the lengths follow behind.
template <int Rank, int Count>
array<index, Rank + Count> window_extents(const array<index, Rank>& extents, const array<int, Count>& axes,
                                          const array<index, Count>& lengths, const array<index, Count>& steps,
                                          const array<index, Count>& dilations) {
  array<index, Rank + Count> result{};
  for (int axis = 0; axis < Rank; ++axis) result[axis] = extents[axis];
  for (int i = 0; i < Count; ++i) {
    result[axes[i]] = window_count(extents[axes[i]], lengths[i], steps[i], 0, dilations[i], 0, "windows");
    if (result[axes[i]] < 1) {
      throw shape_error(compose_text("windows: axis ", axes[i], ": extent ", extents[axes[i]], ", expected at least ",
                                     window_span(lengths[i], dilations[i]).value(), " (operand ", extents, ", step ",
                                     steps[i], ")"));
    }
    result[Rank + i] = lengths[i];
  }
  return result;
}

template <int Count>
constexpr array<index, Count> array_from(const index (&values)[Count]) {
  array<index, Count> result{};
  for (int i = 0; i < Count; ++i) result[i] = values[i];
  return result;
}

}  // namespace detail

/// The windows of the given lengths along the named axes, `steps` apart, their elements `dilations` apart: window axes
/// follow behind, in the order of their names. Lengths are a shape, static or not, or numbers.
/// extents   (extent - dilation (length - 1) - 1) / step + 1 windows along a named axis: those that would overhang are
///           left out
/// throws    shape_error when not even one window fits, or for a length, step or dilation below 1
/// cost      none of its own: windows overlap in memory
/// example   windows(x, axis<0, 2>, {3, 5}) takes [a, b, c] to [a - 2, b, c - 4, 3, 5]
template <tensor_operand Operand, int... Axes, index... Lengths>
  requires(sizeof...(Axes) == sizeof...(Lengths))
auto windows(Operand&& operand, axis_list<Axes...> axes, const shape<Lengths...>& lengths,
             const array<index, static_cast<int>(sizeof...(Axes))>& steps =
                 filled_array<static_cast<int>(sizeof...(Axes))>(index{1}),
             const array<index, static_cast<int>(sizeof...(Axes))>& dilations =
                 filled_array<static_cast<int>(sizeof...(Axes))>(index{1})) {
  using old_shape = typename std::remove_cvref_t<Operand>::shape_type;
  constexpr int rank = old_shape::rank, count = static_cast<int>(sizeof...(Axes));
  (void)axes;
  const array<int, count> named{{normalise_axis(Axes, rank)...}};
  axis_map<rank, rank + count> map{{}, {}, filled_array<rank + count>(index{1})};
  for (int axis = 0; axis < rank; ++axis) map.target[axis] = axis;
  for (int i = 0; i < count; ++i) {
    map.target[rank + i] = named[i], map.step[named[i]] = steps[i], map.step[rank + i] = dilations[i];
  }
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    constexpr auto slides = axis_set<rank>(axis_list<Axes...>{});  // here, as g++ 14 fails on one that is captured
    using new_shape = shape<(slides[I] ? dyn : old_shape::static_extent(I))..., Lengths...>;
    const new_shape extents(
        detail::window_extents(operand.shape().to_array(), named, lengths.to_array(), steps, dilations));
    return make_index_map<moved_axes<I..., normalise_axis(Axes, rank)...>>(std::forward<Operand>(operand), extents,
                                                                           map);
  }(std::make_integer_sequence<int, rank>{});
}
template <tensor_operand Operand, int... Axes>
auto windows(Operand&& operand, axis_list<Axes...> axes, const index (&lengths)[sizeof...(Axes)],
             const index (&steps)[sizeof...(Axes)]) {
  constexpr int count = static_cast<int>(sizeof...(Axes));
  return windows(std::forward<Operand>(operand), axes, rank<count>(detail::array_from<count>(lengths)),
                 detail::array_from<count>(steps));
}
template <tensor_operand Operand, int... Axes>
auto windows(Operand&& operand, axis_list<Axes...> axes, const index (&lengths)[sizeof...(Axes)]) {
  constexpr int count = static_cast<int>(sizeof...(Axes));
  return windows(std::forward<Operand>(operand), axes, rank<count>(detail::array_from<count>(lengths)),
                 filled_array<count>(index{1}));
}

/// The windows of `Height` x `Width` over the last two axes that start every `step` rows and columns: [..., h, w]
/// becomes [..., p, q, Height, Width].
template <index Height, index Width, tensor_operand Operand>
auto windows(Operand&& operand, index step) {
  static_assert(std::remove_cvref_t<Operand>::shape_type::rank >= 2, "tenon: windows slide over the last two axes");
  static_assert((Height >= 1 && Width >= 1) || must_hold<shape<Height, Width>>,
                "tenon: windows have at least 1 row and 1 column");
  return windows(std::forward<Operand>(operand), axis<-2, -1>, shape<Height, Width>{}, {{step, step}});
}
/// One length names no axis.
template <index Length, tensor_operand Operand>
auto windows(Operand&& operand, index step) {
  static_assert(
      must_hold<Operand>,
      "tenon: windows<3, 3>(x, 1) slide over the last two axes; along one axis, windows(x, axis<0>, {3}, {1})");
  return windows(std::forward<Operand>(operand), axis<-1>, shape<Length>{}, {{step}});
}

}  // namespace tenon
