// tenon/nn/greatest_gradient.hpp: the gradient of max pools whose windows lie side by side, in one pass.
// Each window looks for its greatest value again and writes all its elements: places are neither stored nor read.
// Floor 7: may include base, core, device, expr, plan, kernels, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch.hpp>
#include <tenon/device/threads.hpp>
#include <tenon/expr/node.hpp>
#include <tenon/kernels/positions.hpp>

namespace tenon::nn::detail {

/// Elements of planes [batch, channels, ...] whose last axis lies side by side.
template <class T, int Rank>
struct lines_of_planes {
  T* data;
  array<index, Rank> strides;

  TENON_HOST_DEVICE T* at(const array<index, Rank>& position) const {
    index offset = 0;
    for (int axis = 0; axis < Rank; ++axis) offset += position[axis] * strides[axis];
    return data + offset;
  }
};

/// Where the pieces of a window lie that lie side by side each: one for each tap along all axes but the last.
template <class Window>
struct window_pieces {
  static constexpr int axes = Window::rank;
  static constexpr index width = Window::static_extent(axes - 1);
  static constexpr array<index, axes> lengths = [] {
    array<index, axes> result{};
    for (int axis = 0; axis < axes; ++axis) result[axis] = Window::static_extent(axis);
    return result;
  }();
  static constexpr int count = static_cast<int>(count_between(lengths, 0, axes - 1));

  /// Elements from the window's first one to the beginning of a piece.
  template <int Rank>
  TENON_HOST_DEVICE static index offset(int piece, const array<index, Rank>& strides) {
    constexpr array<index, axes> extents = lengths;
    index result = 0;
    for (int axis = axes - 2; axis >= 0; --axis) {
      const auto length = static_cast<int>(extents[axis]);
      result += piece % length * strides[2 + axis];
      piece /= length;
    }
    return result;
  }
};

/// One window for each position of `outputs`. Its gradient goes to its greatest value, NaN counting as greatest and
/// the first of equal ones, zeros to the others.
template <class T, class Window>
struct greatest_gradient_kernel {
  static constexpr const char* name = "greatest_gradient";
  static constexpr int rank = Window::rank + 2;
  using pieces = window_pieces<Window>;

  numbered_positions<rank> outputs;
  lines_of_planes<const T, rank> input, gradient;
  lines_of_planes<T, rank> result;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const index step = static_cast<index>(device.grid_size().x) * device.block_size();
    for (index i = static_cast<index>(device.block().x) * device.block_size() + device.thread(); i < outputs.count();
         i += step) {
      const auto position = outputs[i];
      walk<1>(input.at(first_tap(position)), gradient.at(position), result.at(first_tap(position)));
    }
  }
  /// The windows of a line; a few at once, in arrays whose loops become vector instructions.
  void walk_line(const array<index, rank>& position, index length) const {
    const T *from = input.at(first_tap(position)), *spread = gradient.at(position);
    T* to = result.at(first_tap(position));
    walk_all<16>(from, spread, to, length);
  }

 private:
  /// Windows in blocks of `Count`, the last of which may begin within the one before it.
  template <int Count>
  void walk_all(const T* from, const T* gradients, T* to, index length) const {
    if constexpr (Count > 1) {
      if (length < Count) return walk_all<Count / 2>(from, gradients, to, length);
    }
    for (index i = 0; i < length; i += Count) {
      const index first = i + Count <= length ? i : length - Count;
      walk<Count>(from + first * pieces::width, gradients + first, to + first * pieces::width);
    }
  }
  TENON_HOST_DEVICE static array<index, rank> first_tap(array<index, rank> position) {
    constexpr array<index, rank - 2> extents = pieces::lengths;
    for (int axis = 2; axis < rank; ++axis) position[axis] *= extents[axis - 2];
    return position;
  }
  /// `Count` windows side by side: what they see, their gradients, where the result goes.
  template <int Count>
  TENON_HOST_DEVICE void walk(const T* from, const T* gradients, T* to) const {
    T best[Count], spread[Count];
    int chosen[Count];
    TENON_UNROLL(1)
    for (int i = 0; i < Count; ++i) best[i] = from[i * pieces::width], chosen[i] = 0;
    TENON_UNROLL(1)
    for (int i = 0; i < Count; ++i) spread[i] = gradients[i];
    for (int piece = 0; piece < pieces::count; ++piece) {
      const T* const values = from + pieces::offset(piece, input.strides);
      for (int tap = 0; tap < pieces::width; ++tap) {
        TENON_UNROLL(1)
        for (int i = 0; i < Count; ++i) {
          const T value = values[i * pieces::width + tap];
          const bool is_greater = !(value <= best[i]) & (best[i] == best[i]);  // NaN is, but not than NaN
          best[i] = is_greater ? value : best[i];
          chosen[i] = is_greater ? piece * static_cast<int>(pieces::width) + tap : chosen[i];
        }
      }
    }
    for (int piece = 0; piece < pieces::count; ++piece) {
      T* const values = to + pieces::offset(piece, result.strides);
      TENON_UNROLL(1)
      for (int i = 0; i < Count; ++i) {
        for (int tap = 0; tap < pieces::width; ++tap) {
          const bool is_chosen = chosen[i] == piece * static_cast<int>(pieces::width) + tap;
          values[i * pieces::width + tap] = is_chosen ? spread[i] : T(0.0f);
        }
      }
    }
  }
};

/// Runs the kernel; on the host by lines, shared among threads.
/// cost      one launch
template <class Space, class T, class Window>
void run_greatest_gradient(const greatest_gradient_kernel<T, Window>& kernel, index length) {
  const index windows = kernel.outputs.count();
  if (windows == 0) return;
  if constexpr (std::is_same_v<Space, host>) {
    constexpr index grain = 1 << 13;  // windows, for which a thread is worth waking
    const counted_launch counted(kernel.name);
    parallel_for(windows / length, 1 + grain / length, [&](index first, index last) {
      for (index line = first; line < last; ++line) kernel.walk_line(kernel.outputs[line * length], length);
    });
  } else {
    launch<Space>(launch_shape{.grid = {blocks_for(windows)}, .block = kernel_block}, kernel);
  }
}

template <class View>
bool has_lines(const View& x) {
  constexpr int last = View::rank - 1;
  return x.strides()[last] == 1 || x.extent(last) == 1;
}

/// Writes the gradient of the input of a max pool whose windows lie side by side, elements that are in no window aside.
/// Returns false, and writes nothing, for expressions and for tensors whose last axis is apart in memory.
template <class Window, class Input, class Gradient, class Destination>
bool write_greatest_gradient(const Input& input, const Gradient& gradient, const Destination& destination) {
  using element = typename Input::element;
  constexpr bool in_memory =
      std::is_same_v<typename Input::kind, leaf_kind> && std::is_same_v<typename Gradient::kind, leaf_kind>;
  if constexpr (!in_memory || !std::is_same_v<typename Gradient::element, element> ||
                !std::is_same_v<typename Destination::element, element>) {
    return false;
  } else {
    constexpr int rank = Window::rank + 2;
    if (!has_lines(input.elements) || !has_lines(gradient.elements) || !has_lines(destination)) return false;
    const auto extents = gradient.shape().to_array();
    run_greatest_gradient<typename Input::space>(
        greatest_gradient_kernel<element, Window>{numbered_positions<rank>(extents),
                                                  {input.elements.data(), input.elements.strides()},
                                                  {gradient.elements.data(), gradient.elements.strides()},
                                                  {destination.data(), destination.strides()}},
        extents[rank - 1]);
    return true;
  }
}

}  // namespace tenon::nn::detail
