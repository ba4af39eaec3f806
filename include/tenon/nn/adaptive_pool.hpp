// tenon/nn/adaptive_pool.hpp: pools into as many windows as are asked for, along one, two or three axes.
// Names and shapes are those of torch.nn.AdaptiveAvgPool1d to AdaptiveMaxPool3d; an output of 1 is a global pool.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/placed_windows.hpp>
#include <tenon/nn/max_windows.hpp>

namespace tenon::nn {

namespace detail {

/// How many of `extent` elements each of `count` windows sees.
struct shared_elements {
  index extent, count;

  TENON_HOST_DEVICE float operator()(index window) const {
    using windows = shared_windows<1>;
    return static_cast<float>(windows::end(window, extent, count) - windows::begin(window, extent, count));
  }
};

}  // namespace detail

/// Base of adaptive pools. `Output` says how many windows there are along each axis, `same` as many as elements; where
/// it is `dyn`, the constructor is told.
/// extents   [batch, channels, Output...]
/// throws    shape_error for a negative number of windows
template <class Layer, class Output>
struct adaptive_pool_layer : stateless {
  static constexpr int rank = Output::count;
  static constexpr per_axis<rank> known_counts = Output::value;
  static constexpr bool is_static = known_counts[0] != dyn;
  static constexpr bool is_global = known_counts == per_axis<rank>(1);
  per_axis<rank> output = known_counts;

  adaptive_pool_layer()
    requires(is_static)
  = default;
  explicit adaptive_pool_layer(const per_axis<rank>& windows)
    requires(!is_static)
      : output(windows) {
    for (int axis = 0; axis < rank; ++axis) {
      if (output[axis] >= 0 || output[axis] == same) continue;
      throw shape_error(compose_text(Layer::name, ": axis ", 2 + axis, ": output ", output[axis],
                                     ", expected at least 0, or `same`"));
    }
  }

  template <shape_type Input>
  constexpr auto output_shape(const Input& input) const {
    check_rank<Layer, rank + 2, Input>();
    array<index, rank + 2> extents{{input.extent(0), input.extent(1)}};
    for (int axis = 0; axis < rank; ++axis) extents[2 + axis] = pooled(input.extent(2 + axis), output[axis]);
    return shape_of<detail::output_extents<adaptive_pool_layer, Input>, rank + 2>(extents);
  }
  /// What the type knows of the extents of its output for inputs of a shape.
  template <class Input>
  static constexpr index known_output(int axis) {
    return axis < 2 ? Input::static_extent(axis) : pooled(Input::static_extent(axis), known_counts[axis - 2]);
  }
  template <class Input>
  auto windows_of(const Input& x, typename Input::element outside) const {
    const auto places = placing(x.shape());
    array<index, rank> taps{};
    for (int axis = 0; axis < rank; ++axis) taps[axis] = places.most_taps(axis);
    return placed_windows(x, places, tenon::rank<rank>(taps), outside);
  }
  /// Where the windows of an input lie.
  template <shape_type Input>
  shared_windows<rank> placing(const Input& input) const {
    shared_windows<rank> places{};
    for (int axis = 0; axis < rank; ++axis) {
      places.image[axis] = input.extent(2 + axis);
      places.output[axis] = pooled(places.image[axis], output[axis]);
    }
    return places;
  }

 private:
  static constexpr index pooled(index extent, index count) { return count == same ? extent : count; }
};

/// The greatest value of each of `Output` windows, which divide the input as evenly as possible.
template <class Output>
struct adaptive_max_pool_layer : adaptive_pool_layer<adaptive_max_pool_layer<Output>, Output>,
                                 greatest_of_windows<adaptive_max_pool_layer<Output>> {
  using base = adaptive_pool_layer<adaptive_max_pool_layer, Output>;
  using base::base, base::rank;
  static constexpr const char* names[3] = {"adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"};
  static constexpr const char* name = names[rank - 1];
};

/// The mean of each of `Output` windows, which divide the input as evenly as possible.
template <class Output>
struct adaptive_avg_pool_layer : adaptive_pool_layer<adaptive_avg_pool_layer<Output>, Output>,
                                 expression_layer<adaptive_avg_pool_layer<Output>> {
  using base = adaptive_pool_layer<adaptive_avg_pool_layer, Output>;
  using base::base, base::rank;
  static constexpr const char* names[3] = {"adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"};
  static constexpr const char* name = names[rank - 1];

  template <class Input>
  auto expression(const Input& x) const {
    if constexpr (base::is_global) {
      return mean(x, detail::image_axes<rank>);
    } else {
      const auto sums = sum(this->windows_of(x, typename Input::element(0.0f)), detail::tap_axes<rank>);
      return sums / counts(x.shape(), std::make_integer_sequence<int, rank>{});
    }
  }

 private:
  template <class Input, int... Axes>
  auto counts(const Input& input, std::integer_sequence<int, Axes...>) const {
    const auto windows = this->output_shape(input);
    const auto along = [&](int axis) {
      return map(detail::shared_elements{input.extent(2 + axis), windows.extent(2 + axis)},
                 iota<index>(tenon::rank<1>(windows.extent(2 + axis))));
    };
    return (over_channels<rank + 1 - Axes>(along(Axes)) * ...);
  }
};

/// Adaptive pools by PyTorch's names: `nn::adaptive_avg_pool2d<1>{}`. `Output` is a number for all axes, or a
/// `per_axis`.
template <per_axis<1> Output>
using adaptive_max_pool1d = adaptive_max_pool_layer<axis_numbers<Output[0]>>;
template <per_axis<2> Output>
using adaptive_max_pool2d = adaptive_max_pool_layer<axis_numbers<Output[0], Output[1]>>;
template <per_axis<3> Output>
using adaptive_max_pool3d = adaptive_max_pool_layer<axis_numbers<Output[0], Output[1], Output[2]>>;
template <per_axis<1> Output>
using adaptive_avg_pool1d = adaptive_avg_pool_layer<axis_numbers<Output[0]>>;
template <per_axis<2> Output>
using adaptive_avg_pool2d = adaptive_avg_pool_layer<axis_numbers<Output[0], Output[1]>>;
template <per_axis<3> Output>
using adaptive_avg_pool3d = adaptive_avg_pool_layer<axis_numbers<Output[0], Output[1], Output[2]>>;

}  // namespace tenon::nn
