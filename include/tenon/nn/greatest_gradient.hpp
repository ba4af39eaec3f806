// tenon/nn/greatest_gradient.hpp: the gradient of max pools, in one pass.
// Each window looks for its greatest value again, unless its place was kept. Side by side, it writes all its elements.
// Floor 7: may include base, core, device, expr, plan, kernels, evaluate, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch.hpp>
#include <tenon/device/simd_convert.hpp>
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

/// The first element of the window at a position of the output.
template <class Window, int Rank>
TENON_HOST_DEVICE array<index, Rank> first_tap(array<index, Rank> position) {
  constexpr array<index, Rank - 2> extents = window_pieces<Window>::lengths;
  for (int axis = 2; axis < Rank; ++axis) position[axis] *= extents[axis - 2];
  return position;
}

/// Lanes as wide as those of packs of T, for places in windows.
template <class T, int Count>
using place_lanes = decltype(simd::pack<T, Count>{} == simd::pack<T, Count>{});

/// Finds the greatest value of each window of an input, NaN counting as greatest, of equal ones the first.
template <class T, class Window>
struct sought_places {
  static constexpr int rank = Window::rank + 2;
  using element = T;
  using pieces = window_pieces<Window>;
  lines_of_planes<const T, rank> input;

  /// The windows of a line. The first of them begins at `from`.
  struct line {
    const T* from;
    array<index, rank> strides;

    TENON_HOST_DEVICE int place(index window) const {
      const T* const first = from + window * pieces::width;
      T best = first[0];
      int chosen = 0;
      for (int piece = 0; piece < pieces::count; ++piece) {
        const T* const values = first + pieces::offset(piece, strides);
        for (int tap = 0; tap < pieces::width; ++tap) {
          if (!simd::is_greater(values[tap], best)) continue;
          best = values[tap], chosen = piece * static_cast<int>(pieces::width) + tap;
        }
      }
      return chosen;
    }
#if !defined(__CUDACC__)
    /// Of `Count` windows from that one on.
    template <int Count>
    TENON_INLINE auto places(index window) const {
      constexpr int width = static_cast<int>(pieces::width);
      const T* const first = from + window * pieces::width;
      auto best = simd::load_steps<T, Count, width, 0>(first);
      place_lanes<T, Count> chosen{};
      for (int piece = 0; piece < pieces::count; ++piece) {
        const T* const values = first + pieces::offset(piece, strides);
        __builtin_prefetch(values + elements_ahead<T>);
        for_each_index<width>([&](auto tap) __attribute__((always_inline)) {
          const auto value = simd::load_steps<T, Count, width, tap.value>(values);
          const auto greater = simd::is_greater(value, best);
          best = simd::select(greater, value, best);
          chosen = simd::select(greater, chosen - chosen + (piece * width + tap.value), chosen);
        });
      }
      return chosen;
    }
#endif
  };
  TENON_HOST_DEVICE line at(const array<index, rank>& position) const {
    return {input.at(first_tap<Window>(position)), input.strides};
  }
};

/// Reads where the greatest value of each window lies: pieces one after another, taps of a piece side by side.
template <class T, class Window>
struct read_places {
  static constexpr int rank = Window::rank + 2;
  using element = std::uint8_t;
  lines_of_planes<const std::uint8_t, rank> kept;

  struct line {
    const std::uint8_t* from;

    TENON_HOST_DEVICE int place(index window) const { return from[window]; }
#if !defined(__CUDACC__)
    template <int Count>
    TENON_INLINE auto places(index window) const {
      using lane = simd::lane_of<place_lanes<T, Count>>;
      return simd::convert<std::uint8_t, lane>(simd::load<std::uint8_t, Count>(from + window));
    }
#endif
  };
  TENON_HOST_DEVICE line at(const array<index, rank>& position) const { return {kept.at(position)}; }
};

/// One window for each position of `outputs`. Its gradient goes to its greatest value, zeros to the others.
template <class T, class Window, class Places>
struct greatest_gradient_kernel {
  static constexpr const char* name = "greatest_gradient";
  static constexpr int rank = Window::rank + 2;
  using pieces = window_pieces<Window>;

  numbered_positions<rank> outputs;
  Places places;
  lines_of_planes<const T, rank> gradient;
  lines_of_planes<T, rank> result;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const index step = static_cast<index>(device.grid_size().x) * device.block_size();
    for (index i = static_cast<index>(device.block().x) * device.block_size() + device.thread(); i < outputs.count();
         i += step) {
      const auto position = outputs[i];
      write(places.at(position).place(0), gradient.at(position)[0], result.at(first_tap<Window>(position)));
    }
  }
  /// The steps of places, gradients and results from a line to the next.
  array<index, 3> line_steps() const {
    const array<index, rank> first{};
    auto second = first;
    second[rank - 2] = 1;
    return {{places.at(second).from - places.at(first).from, gradient.at(second) - gradient.at(first),
             result.at(first_tap<Window>(second)) - result.at(first)}};
  }
  /// The windows of `count` lines of a plane, several at once where these are numbers of the host.
  void walk_lines(const array<index, rank>& position, index count, index length, const array<index, 3>& steps) const {
    auto line = places.at(position);
    const T* from = gradient.at(position);
    T* to = result.at(first_tap<Window>(position));
    for (; count > 0; --count, line.from += steps[0], from += steps[1], to += steps[2]) {
      walk_all<in_packs ? simd::native_width<T> : 1>(line, from, to, length);
    }
  }

 private:
  static constexpr bool in_packs =
      !compiled_by_nvcc && std::is_floating_point_v<T> && pieces::width <= simd::longest_step;

  /// Windows in blocks of `Count`, the last of which may begin within the one before it.
  template <int Count, class Line>
  void walk_all(const Line& line, const T* gradients, T* to, index length) const {
    if constexpr (Count > 1) {
      if (length < Count) return walk_all<Count / 2>(line, gradients, to, length);
    }
    for (index i = 0; i < length; i += Count) {
      const index first = i + Count <= length ? i : length - Count;
      T* const here = to + first * pieces::width;
      if constexpr (Count == 1) write(line.place(first), gradients[first], here);
      else write_pack<Count>(line.template places<Count>(first), simd::load<T, Count>(gradients + first), here);
    }
  }
  TENON_HOST_DEVICE void write(int chosen, T spread, T* to) const {
    for (int piece = 0; piece < pieces::count; ++piece) {
      T* const values = to + pieces::offset(piece, result.strides);
      for (int tap = 0; tap < pieces::width; ++tap) {
        values[tap] = chosen == piece * static_cast<int>(pieces::width) + tap ? spread : T(0.0f);
      }
    }
  }
#if !defined(__CUDACC__)
  template <int Count>
  TENON_INLINE void write_pack(place_lanes<T, Count> chosen, simd::pack<T, Count> spread, T* to) const {
    constexpr int width = static_cast<int>(pieces::width);
    for (int piece = 0; piece < pieces::count; ++piece) {
      array<simd::pack<T, Count>, width> values;
      for (int tap = 0; tap < width; ++tap) {
        values[tap] = simd::select(chosen == piece * width + tap, spread, simd::pack<T, Count>{});
      }
      simd::store_steps(to + pieces::offset(piece, result.strides), values);
    }
  }
#endif
};

/// Runs the kernel for outputs of these extents; on the host by lines, shared among threads.
/// cost      one launch
template <class Space, class T, class Window, class Places>
void run_greatest_gradient(const greatest_gradient_kernel<T, Window, Places>& kernel,
                           const array<index, Window::rank + 2>& extents) {
  const index windows = kernel.outputs.count(), length = extents[Window::rank + 1];
  if (windows == 0) return;
  if constexpr (std::is_same_v<Space, host>) {
    constexpr index grain = 1 << 13;  // windows, for which a thread is worth waking
    const counted_launch counted(kernel.name);
    parallel_for(windows / length, 1 + grain / length, [&](index first, index last) {
      const auto steps = kernel.line_steps();
      for (index line = first, count = 0; line < last; line += count) {
        const auto position = kernel.outputs[line * length];
        const index rest = extents[Window::rank] - position[Window::rank];
        count = rest < last - line ? rest : last - line;
        kernel.walk_lines(position, count, length, steps);
      }
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
    if (has_lines(node.view())) return lines{node.view().data(), node.view().strides()};
  }
  copy = Tensor(cast<T>(node));
  return lines{copy.data(), copy.view().strides()};
}

/// Of the input of a max pool, from the gradient of the result and what `Places` are found in: the input, or the places
/// that were kept. Elements that are in no window get zeros.
template <class Window, template <class, class> class Places = sought_places>
struct greatest_gradient_algorithm {
  static constexpr const char* name = "greatest_gradient";

  bool operator==(const greatest_gradient_algorithm&) const = default;
  template <class Target, class Source, class Gradient>
  void operator()(const Target& target, const Source& source, const Gradient& gradient) const {
    using T = typename Target::element;
    using space = typename Target::space;
    using places = Places<T, Window>;
    constexpr int rank = Window::rank + 2;
    if (!has_lines(target)) {
      tensor<T, tenon::rank<rank>, space> result(tenon::rank<rank>(target.shape().to_array()));
      (*this)(result.write_view(), source, gradient);
      target = result;
      return;
    }
    const auto extents = gradient.shape().to_array();
    bool fills = true;
    for (int axis = 2; axis < rank; ++axis) {
      fills = fills && extents[axis] * Window::static_extent(axis - 2) == target.extent(axis);
    }
    if (!fills) target = T(0.0f);
    tensor<typename places::element, tenon::rank<rank>, space> source_copy;
    tensor<T, tenon::rank<rank>, space> gradient_copy;
    run_greatest_gradient<space>(greatest_gradient_kernel<T, Window, places>{numbered_positions<rank>(extents),
                                                                             {lines_of(source, source_copy)},
                                                                             lines_of(gradient, gradient_copy),
                                                                             {target.data(), target.strides()}},
                                 extents);
  }
};

/// Whether the gradient of max pools whose windows lie anywhere is one pass: of numbers of the host in which sums of
/// gradients are exact enough.
template <class Input, class T>
inline constexpr bool walks_windows =
    std::is_same_v<tenon::detail::concrete_space<typename Input::space>, host> && std::is_same_v<compute_type<T>, T>;

/// Of one plane, whose windows lie anywhere, on the host. Every window adds its gradient to its greatest value.
template <class T, class Windows>
struct placed_gradient_walk {
  static constexpr int rank = Windows::rank;
  using strides = array<index, rank + 2>;
  Windows windows;
  strides input, gradient, result;

  /// All windows along `Axis` and the axes behind it, of those that `window` says before it.
  template <int Axis = 0>
  void visit(const T* values, const T* gradients, T* to, array<index, rank> window = {}) const {
    for (window[Axis] = 0; window[Axis] < windows.output[Axis]; ++window[Axis], gradients += gradient[2 + Axis]) {
      if constexpr (Axis + 1 < rank) {
        visit<Axis + 1>(values, gradients, to, window);
      } else {
        greatest found;
        seek<0>(values, to, window, found);
        if (found.place != nullptr) *found.place += *gradients;
      }
    }
  }

 private:
  struct greatest {
    T value{};
    T* place = nullptr;
  };
  template <int Axis>
  void seek(const T* values, T* to, const array<index, rank>& window, greatest& found) const {
    for (index tap = 0; tap < windows.most_taps(Axis); ++tap) {
      const index element = windows.element(Axis, window[Axis], tap);
      if (element < 0) continue;
      const T* const here = values + element * input[2 + Axis];
      T* const there = to + element * result[2 + Axis];
      if constexpr (Axis + 1 < rank) {
        seek<Axis + 1>(here, there, window, found);
      } else if (found.place == nullptr || simd::is_greater(*here, found.value)) {
        found = {*here, there};
      }
    }
  }
};

/// The gradient of max pools whose windows may overlap, or reach beside the input. Planes are shared among threads.
template <class Windows>
struct placed_gradient_algorithm {
  static constexpr const char* name = "greatest_gradient";
  Windows windows;

  bool operator==(const placed_gradient_algorithm&) const = default;
  template <class Target, class Source, class Gradient>
  void operator()(const Target& target, const Source& source, const Gradient& gradient) const {
    using T = typename Target::element;
    constexpr int rank = Windows::rank + 2;
    tensor<T, tenon::rank<rank>> source_copy, gradient_copy;
    const auto values = lines_of(source, source_copy), gradients = lines_of(gradient, gradient_copy);
    const lines_of_planes<T, rank> result{target.data(), target.strides()};
    target = T(0.0f);
    const placed_gradient_walk<T, Windows> walk{windows, values.strides, gradients.strides, result.strides};
    const counted_launch counted(name);
    constexpr index grain = 1 << 12;  // windows, for which a thread is worth waking
    const index channels = target.extent(1), size = count_between(gradient.shape().to_array(), 2, rank);
    parallel_for(target.extent(0) * channels, 1 + grain / (1 + size), [&](index first, index last) {
      for (index plane = first; plane < last; ++plane) {
        const array<index, rank> position{{plane / channels, plane % channels}};
        walk.visit(values.at(position), gradients.at(position), result.at(position));
      }
    });
  }
};

}  // namespace tenon::nn::detail
