// tenon/nn/greatest_gradient.hpp: the gradient of max pools whose windows lie side by side, in one pass.
// Each window looks for its greatest value again and writes all its elements: places are neither stored nor read.
// Floor 7: may include base, core, device, expr, plan, kernels, evaluate, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch.hpp>
#include <tenon/device/simd_steps.hpp>
#include <tenon/device/threads.hpp>
#include <tenon/evaluate.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/own_pass.hpp>
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
      walk(input.at(first_tap(position)), gradient.at(position), result.at(first_tap(position)));
    }
  }
  /// The windows of a line, several at once where these are numbers of the host.
  void walk_line(const array<index, rank>& position, index length) const {
    const T *from = input.at(first_tap(position)), *spread = gradient.at(position);
    T* to = result.at(first_tap(position));
    walk_all<in_packs ? simd::native_width<T> : 1>(from, spread, to, length);
  }

 private:
  static constexpr bool in_packs =
      !compiled_by_nvcc && std::is_floating_point_v<T> && pieces::width <= simd::longest_step;

  /// Windows in blocks of `Count`, the last of which may begin within the one before it.
  template <int Count>
  void walk_all(const T* from, const T* gradients, T* to, index length) const {
    if constexpr (Count > 1) {
      if (length < Count) return walk_all<Count / 2>(from, gradients, to, length);
    }
    for (index i = 0; i < length; i += Count) {
      const index first = i + Count <= length ? i : length - Count;
      if constexpr (Count == 1) walk(from + i * pieces::width, gradients + i, to + i * pieces::width);
      else walk_pack<Count>(from + first * pieces::width, gradients + first, to + first * pieces::width);
    }
  }
  TENON_HOST_DEVICE static array<index, rank> first_tap(array<index, rank> position) {
    constexpr array<index, rank - 2> extents = pieces::lengths;
    for (int axis = 2; axis < rank; ++axis) position[axis] *= extents[axis - 2];
    return position;
  }
  /// Whether a value is chosen after the greatest before it: NaN counts as greatest, but not as greater than NaN.
  template <class V>
  TENON_HOST_DEVICE static auto is_greater(V value, V best) {
    return (!(value <= best)) & (best == best);
  }
  /// One window: what it sees, its gradient, where the result goes.
  TENON_HOST_DEVICE void walk(const T* from, const T* gradients, T* to) const {
    T best = from[0];
    int chosen = 0;
    for (int piece = 0; piece < pieces::count; ++piece) {
      const T* const values = from + pieces::offset(piece, input.strides);
      for (int tap = 0; tap < pieces::width; ++tap) {
        if (!is_greater(values[tap], best)) continue;
        best = values[tap], chosen = piece * static_cast<int>(pieces::width) + tap;
      }
    }
    for (int piece = 0; piece < pieces::count; ++piece) {
      T* const values = to + pieces::offset(piece, result.strides);
      for (int tap = 0; tap < pieces::width; ++tap) {
        values[tap] = chosen == piece * static_cast<int>(pieces::width) + tap ? gradients[0] : T(0.0f);
      }
    }
  }
#if !defined(__CUDACC__)
  /// `Count` windows side by side.
  template <int Count>
  void walk_pack(const T* from, const T* gradients, T* to) const {
    constexpr int width = static_cast<int>(pieces::width);
    using lanes = simd::pack<T, Count>;
    const lanes spread = simd::load<T, Count>(gradients);
    lanes best = simd::load_steps<T, Count, width, 0>(from);
    auto chosen = best != best;
    chosen = chosen ^ chosen;
    for (int piece = 0; piece < pieces::count; ++piece) {
      const T* const values = from + pieces::offset(piece, input.strides);
      __builtin_prefetch(values + elements_ahead<T>);
      for_each_index<width>([&](auto tap) __attribute__((always_inline)) {
        const lanes value = simd::load_steps<T, Count, width, tap.value>(values);
        const auto greater = is_greater(value, best);
        best = simd::select(greater, value, best);
        chosen = simd::select(greater, chosen - chosen + (piece * width + tap.value), chosen);
      });
    }
    for (int piece = 0; piece < pieces::count; ++piece) {
      array<lanes, width> values;
      for (int tap = 0; tap < width; ++tap) {
        values[tap] = simd::select(chosen == piece * width + tap, spread, lanes{});
      }
      simd::store_steps(to + pieces::offset(piece, result.strides), values);
    }
  }
#endif
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

/// Whether the last axis lies side by side.
template <class View>
bool has_lines(const View& x) {
  constexpr int last = View::rank - 1;
  return x.strides()[last] == 1 || x.extent(last) == 1;
}

/// The elements of a node where they lie side by side, else a copy of them, which `copy` keeps.
template <class Node, class Tensor>
auto lines_of(const Node& node, Tensor& copy) {
  using T = typename Tensor::element;
  using lines = lines_of_planes<const T, Tensor::shape_type::rank>;
  if constexpr (std::is_same_v<typename Node::kind, leaf_kind> && std::is_same_v<typename Node::element, T>) {
    if (has_lines(node.elements)) return lines{node.elements.data(), node.elements.strides()};
  }
  copy = Tensor(cast<T>(node));
  return lines{copy.data(), copy.view().strides()};
}

/// Of the input of a max pool, from the input and the gradient of the result; elements that are in no window get zeros.
template <class Window>
struct greatest_gradient_algorithm {
  static constexpr const char* name = "greatest_gradient";

  bool operator==(const greatest_gradient_algorithm&) const = default;
  template <class Target, class Input, class Gradient>
  void operator()(const Target& target, const Input& input, const Gradient& gradient) const {
    using T = typename Target::element;
    using space = typename Target::space;
    constexpr int rank = Window::rank + 2;
    if (!has_lines(target)) {
      tensor<T, tenon::rank<rank>, space> result(tenon::rank<rank>(target.shape().to_array()));
      (*this)(result.write_view(), input, gradient);
      target = result;
      return;
    }
    const auto extents = gradient.shape().to_array();
    bool fills = true;
    for (int axis = 2; axis < rank; ++axis) {
      fills = fills && extents[axis] * Window::static_extent(axis - 2) == target.extent(axis);
    }
    if (!fills) target = T(0.0f);
    tensor<T, tenon::rank<rank>, space> input_copy, gradient_copy;
    run_greatest_gradient<space>(greatest_gradient_kernel<T, Window>{numbered_positions<rank>(extents),
                                                                     lines_of(input, input_copy),
                                                                     lines_of(gradient, gradient_copy),
                                                                     {target.data(), target.strides()}},
                                 extents[rank - 1]);
  }
};

}  // namespace tenon::nn::detail
