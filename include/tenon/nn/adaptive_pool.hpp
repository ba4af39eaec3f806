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
template <class Layer, int Rank, per_axis<Rank> Output>
struct adaptive_pool_layer : stateless {
  static constexpr bool is_static = Output[0] != dyn;
  static constexpr bool is_global = Output == per_axis<Rank>(1);
  static constexpr int rank = Rank;
  per_axis<Rank> output = Output;

  adaptive_pool_layer()
    requires(is_static)
  = default;
  explicit adaptive_pool_layer(const per_axis<Rank>& windows)
    requires(!is_static)
      : output(windows) {}

  template <shape_type Input>
  constexpr auto output_shape(const Input& input) const {
    check_rank<Layer, Rank + 2, Input>();
    array<index, Rank + 2> extents{{input.extent(0), input.extent(1)}};
    for (int axis = 0; axis < Rank; ++axis) extents[2 + axis] = pooled(input.extent(2 + axis), output[axis]);
    return shape_of<detail::output_extents<adaptive_pool_layer, Input>, Rank + 2>(extents);
  }
  /// What the type knows of the extents of its output for inputs of a shape.
  template <class Input>
  static constexpr index known_output(int axis) {
    return axis < 2 ? Input::static_extent(axis) : pooled(Input::static_extent(axis), Output[axis - 2]);
  }
  template <class Input>
  auto windows_of(const Input& x, typename Input::element outside) const {
    shared_windows<Rank> places{};
    array<index, Rank> taps{};
    for (int axis = 0; axis < Rank; ++axis) {
      places.image[axis] = x.shape().extent(2 + axis);
      places.output[axis] = pooled(places.image[axis], output[axis]);
      taps[axis] = shared_windows<Rank>::longest(places.image[axis], places.output[axis]);
    }
    return placed_windows(x, places, tenon::rank<Rank>(taps), outside);
  }

 private:
  static constexpr index pooled(index extent, index count) { return count == same ? extent : count; }
};

template <class Layer, int Rank, per_axis<Rank> Output>
struct adaptive_max_pool_layer : adaptive_pool_layer<Layer, Rank, Output>, greatest_of_windows<Layer> {
  using adaptive_pool_layer<Layer, Rank, Output>::adaptive_pool_layer;
};

template <class Layer, int Rank, per_axis<Rank> Output>
struct adaptive_avg_pool_layer : adaptive_pool_layer<Layer, Rank, Output>, expression_layer<Layer> {
  using base = adaptive_pool_layer<Layer, Rank, Output>;
  using base::base;

  template <class Input>
  auto expression(const Input& x) const {
    if constexpr (base::is_global) {
      return mean(x, detail::image_axes<Rank>);
    } else {
      const auto sums = sum(this->windows_of(x, typename Input::element(0.0f)), detail::tap_axes<Rank>);
      return sums / counts(x.shape(), std::make_integer_sequence<int, Rank>{});
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
    return (over_channels<Rank + 1 - Axes>(along(Axes)) * ...);
  }
};

template <per_axis<1> Output>
struct adaptive_max_pool1d : adaptive_max_pool_layer<adaptive_max_pool1d<Output>, 1, Output> {
  static constexpr const char* name = "adaptive_max_pool1d";
  using adaptive_max_pool_layer<adaptive_max_pool1d, 1, Output>::adaptive_max_pool_layer;
};
template <per_axis<2> Output>
struct adaptive_max_pool2d : adaptive_max_pool_layer<adaptive_max_pool2d<Output>, 2, Output> {
  static constexpr const char* name = "adaptive_max_pool2d";
  using adaptive_max_pool_layer<adaptive_max_pool2d, 2, Output>::adaptive_max_pool_layer;
};
template <per_axis<3> Output>
struct adaptive_max_pool3d : adaptive_max_pool_layer<adaptive_max_pool3d<Output>, 3, Output> {
  static constexpr const char* name = "adaptive_max_pool3d";
  using adaptive_max_pool_layer<adaptive_max_pool3d, 3, Output>::adaptive_max_pool_layer;
};
template <per_axis<1> Output>
struct adaptive_avg_pool1d : adaptive_avg_pool_layer<adaptive_avg_pool1d<Output>, 1, Output> {
  static constexpr const char* name = "adaptive_avg_pool1d";
  using adaptive_avg_pool_layer<adaptive_avg_pool1d, 1, Output>::adaptive_avg_pool_layer;
};
template <per_axis<2> Output>
struct adaptive_avg_pool2d : adaptive_avg_pool_layer<adaptive_avg_pool2d<Output>, 2, Output> {
  static constexpr const char* name = "adaptive_avg_pool2d";
  using adaptive_avg_pool_layer<adaptive_avg_pool2d, 2, Output>::adaptive_avg_pool_layer;
};
template <per_axis<3> Output>
struct adaptive_avg_pool3d : adaptive_avg_pool_layer<adaptive_avg_pool3d<Output>, 3, Output> {
  static constexpr const char* name = "adaptive_avg_pool3d";
  using adaptive_avg_pool_layer<adaptive_avg_pool3d, 3, Output>::adaptive_avg_pool_layer;
};

}  // namespace tenon::nn
