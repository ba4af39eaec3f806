// tenon/expr/views/placed_windows.hpp: windows over the last axes that reach beside the operand, or differ in length.
// A window has as many taps as the longest; those that see no element have a value of their own.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/remap.hpp>
#include <tenon/expr/window_geometry.hpp>

namespace tenon {

/// Windows of one length, `stride` apart, their elements `dilation` apart, the first `padding` before the operand.
template <int Rank>
struct even_windows {
  static constexpr int rank = Rank;
  array<index, Rank> image, kernel, output;  // extents, and the number of windows
  array<index, Rank> stride, padding, dilation;

  bool operator==(const even_windows&) const = default;
  /// throws    shape_error when a stride or dilation is below 1, or a window lies beyond 64 bits
  void check_places() const {
    for (int axis = 0; axis < Rank; ++axis) {
      const checked_extent first = checked_extent(output[axis]) * stride[axis] - padding[axis];
      if (stride[axis] >= 1 && dilation[axis] >= 1 && (first + window_span(kernel[axis], dilation[axis])).fits())
        continue;
      throw shape_error(compose_text("placed_windows: windows along axis ", axis, " of the last: ", output[axis],
                                     " with kernel ", kernel[axis], ", stride ", stride[axis], ", dilation ",
                                     dilation[axis], ", padding ", padding[axis],
                                     ", expected stride and dilation of at least 1, and windows within 64 bits"));
    }
  }
  /// How many taps a window has.
  index most_taps(int axis) const { return kernel[axis]; }
  /// The element that tap `tap` of a window sees; negative where it sees none.
  TENON_HOST_DEVICE index element(int axis, index window, index tap) const {
    const index place = distance(axis, window, tap) - padding[axis];
    return place < image[axis] ? place : -1;
  }
  /// The first window whose tap `tap` sees an element, and the one behind the last.
  array<index, 2> windows_seeing(int axis, index tap) const {
    const index before = padding[axis] - tap * dilation[axis], room = image[axis] + before;
    const index first = before > 0 ? (before + stride[axis] - 1) / stride[axis] : 0;
    const index end = room > 0 ? (room - 1) / stride[axis] + 1 : 0;
    return {{first, end < output[axis] ? end : output[axis]}};
  }
  /// How far what is seen moves with so many windows and taps.
  TENON_HOST_DEVICE index distance(int axis, index windows, index taps) const {
    return windows * stride[axis] + taps * dilation[axis];
  }
  /// The most windows that see one element; the `k`-th of them, negative where there are fewer; its tap that does.
  index windows_over(int axis) const { return kernel[axis]; }
  TENON_HOST_DEVICE index window_over(int axis, index element, index k) const {
    const index start = element + padding[axis] - k * dilation[axis];
    if (start < 0 || start % stride[axis] != 0) return -1;
    const index window = start / stride[axis];
    return window < output[axis] ? window : -1;
  }
  TENON_HOST_DEVICE index tap(int axis, index element, index window) const {
    return (element + padding[axis] - window * stride[axis]) / dilation[axis];
  }
  /// Which of the windows that see an element a window is.
  TENON_HOST_DEVICE index window_index_of(int axis, index element, index window) const {
    return tap(axis, element, window);
  }
  /// How many taps further on the next window of the last axis begins; 0 where windows have no line in common.
  index taps_between_windows() const { return dilation[Rank - 1] == 1 ? stride[Rank - 1] : 0; }
};

/// As many windows as are asked for, which divide the operand as evenly as whole elements can.
/// source    PyTorch's adaptive pools: window j begins at floor(j extent / count), ends at ceil((j + 1) extent / count)
template <int Rank>
struct shared_windows {
  static constexpr int rank = Rank;
  array<index, Rank> image, output;

  bool operator==(const shared_windows&) const = default;
  /// throws    shape_error when there are so many elements and windows that their product does not fit
  void check_places() const {
    for (int axis = 0; axis < Rank; ++axis) {
      if (((checked_extent(image[axis]) + 1) * (checked_extent(output[axis]) + 1)).fits()) continue;
      throw shape_error(compose_text("placed_windows: windows along axis ", axis, " of the last: ", output[axis],
                                     " of extent ", image[axis], ", expected a product within 64 bits"));
    }
  }
  TENON_HOST_DEVICE static index begin(index part, index extent, index count) { return part * extent / count; }
  TENON_HOST_DEVICE static index end(index part, index extent, index count) {
    return ((part + 1) * extent + count - 1) / count;
  }
  /// The most elements that one of `count` parts has.
  static index longest(index extent, index count) {
    return count == 0 ? 0 : extent / count + (extent % count == 0 ? 0 : 2);
  }
  /// The most taps that a window has.
  index most_taps(int axis) const { return longest(image[axis], output[axis]); }

  TENON_HOST_DEVICE index element(int axis, index window, index tap) const {
    const index place = begin(window, image[axis], output[axis]) + tap;
    return place < end(window, image[axis], output[axis]) ? place : -1;
  }
  /// Windows divide elements as elements divide windows.
  index windows_over(int axis) const { return longest(output[axis], image[axis]); }
  TENON_HOST_DEVICE index window_over(int axis, index element, index k) const {
    const index window = begin(element, output[axis], image[axis]) + k;
    return window < end(element, output[axis], image[axis]) ? window : -1;
  }
  TENON_HOST_DEVICE index tap(int axis, index element, index window) const {
    return element - begin(window, image[axis], output[axis]);
  }
  TENON_HOST_DEVICE index window_index_of(int axis, index element, index window) const {
    return window - begin(element, output[axis], image[axis]);
  }
};

/// From a window and its tap, behind `Leading` other axes, to the element that it sees.
template <class T, int Leading, class Windows>
struct window_map {
  static constexpr int rank = Windows::rank;
  /// Whether taps of the last axis may go beyond their window, into the next ones, on one line.
  static constexpr bool with_lines = requires(const Windows& each) { each.taps_between_windows(); };
  Windows windows;
  T outside;

  template <int Count>
  TENON_HOST_DEVICE array<index, Leading + rank> operator()(const array<index, Count>& position) const {
    array<index, Leading + rank> result{};
    for (int axis = 0; axis < Leading; ++axis) result[axis] = position[axis];
    for (int axis = 0; axis < rank; ++axis) {
      result[Leading + axis] = windows.element(axis, position[Leading + axis], position[Leading + rank + axis]);
    }
    return result;
  }
  template <int Count>
  TENON_HOST_DEVICE bool contains(const array<index, Count>& position) const {
    return is_place((*this)(position));
  }
  /// How far the place that is seen moves with a position.
  template <int Count>
  array<index, Leading + rank> distance(const array<index, Count>& position) const
    requires with_lines
  {
    array<index, Leading + rank> result{};
    for (int axis = 0; axis < Leading; ++axis) result[axis] = position[axis];
    for (int axis = 0; axis < rank; ++axis) {
      result[Leading + axis] = windows.distance(axis, position[Leading + axis], position[Leading + rank + axis]);
    }
    return result;
  }
  /// The place that a position sees; beside the operand, where it would be if the operand went on.
  template <int Count>
  array<index, Leading + rank> place(const array<index, Count>& position) const
    requires with_lines
  {
    auto result = distance(position);
    for (int axis = 0; axis < rank; ++axis) result[Leading + axis] -= windows.padding[axis];
    return result;
  }
  /// How many lines along the last axis, at most `most`, the first of them through a place and each one `apart` from
  /// the last, lie in the operand before one lies beside it.
  index lines_inside(const array<index, Leading + rank>& place, const array<index, Leading + rank>& apart,
                     index most) const {
    for (int axis = 0; axis < rank - 1; ++axis) {
      const index before = place[Leading + axis], behind = windows.image[axis] - 1 - before;
      const index step = apart[Leading + axis];
      if (before < 0 || behind < 0) return 0;
      if (step == 0) continue;
      const index lines = 1 + (step > 0 ? behind / step : before / -step);
      most = lines < most ? lines : most;
    }
    return most;
  }
  /// Of the elements `part[0]` to `part[1]` - 1 of the line that begins at a place, those inside the operand.
  array<index, 2> part_inside(const array<index, Leading + rank>& place, const array<index, 2>& part) const {
    const index before = -place[Leading + rank - 1], end = before + windows.image[rank - 1];
    const index last = end < part[1] ? end : part[1], first = before < last ? before : last;
    return {{first > part[0] ? first : part[0], last > part[0] ? last : part[0]}};
  }
};

namespace detail {

template <int>
inline constexpr index unknown_extent = dyn;

template <class Operand, class Taps, class Leading, class Sliding>
struct placed_shape;
template <class Operand, class Taps, int... I, int... J>
struct placed_shape<Operand, Taps, std::integer_sequence<int, I...>, std::integer_sequence<int, J...>> {
  using type = shape<Operand::static_extent(I)..., unknown_extent<J>..., Taps::static_extent(J)...>;
};

/// throws    shape_error when the last extents of an operand are not those that its windows were made for
template <class Shape, int Rank>
void check_image(const char* operation, const Shape& shape, const array<index, Rank>& image) {
  for (int axis = 0; axis < Rank; ++axis) {
    const int own = Shape::rank - Rank + axis;
    if (shape.extent(own) == image[axis]) continue;
    throw shape_error(compose_text(operation, ": axis ", own, ": extent ", shape.extent(own), " of the operand ",
                                   shape.to_array(), ", expected ", image[axis], " of the image ", image));
  }
}

}  // namespace detail

/// The windows over the last axes of `operand`: [..., h, w] becomes [..., windows along h, along w, taps, taps], of
/// which `Taps` says what types know. Taps that see no element are `outside`.
/// throws    shape_error for windows of an image of other extents, or that no numbers of 64 bits can place
/// cost      places are computed for every tap; `windows` costs nothing where no window reaches beside the operand
template <class Taps, tensor_operand Operand, class Windows>
auto placed_windows(Operand&& operand, const Windows& windows, const Taps& taps,
                    typename std::remove_cvref_t<Operand>::element outside) {
  using old_shape = typename std::remove_cvref_t<Operand>::shape_type;
  constexpr int leading = old_shape::rank - Windows::rank;
  static_assert(leading >= 0, "tenon: windows slide over axes that the operand has");
  detail::check_image("placed_windows", operand.shape(), windows.image);
  if constexpr (requires { windows.check_places(); }) windows.check_places();
  using leading_axes = std::make_integer_sequence<int, leading>;
  using sliding_axes = std::make_integer_sequence<int, Windows::rank>;
  using new_shape = typename detail::placed_shape<old_shape, Taps, leading_axes, sliding_axes>::type;
  array<index, new_shape::rank> extents{};
  for (int axis = 0; axis < leading; ++axis) extents[axis] = operand.shape().extent(axis);
  for (int axis = 0; axis < Windows::rank; ++axis) {
    extents[leading + axis] = windows.output[axis], extents[leading + Windows::rank + axis] = taps.extent(axis);
  }
  return make_remap(window_map<decltype(outside), leading, Windows>{windows, outside}, new_shape(extents),
                    as_node(std::forward<Operand>(operand)));
}

}  // namespace tenon
