// tenon/nn/pool.hpp: pooling layers along one, two or three axes: the greatest, the mean, the norm of windows.
// Names, options and shapes are those of torch.nn.MaxPool1d to torch.nn.LPPool3d.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/max_windows.hpp>

namespace tenon::nn {

/// Options of pooling layers along `Rank` axes, with PyTorch's names and defaults.
template <int Rank>
struct pool_options {
  per_axis<Rank> stride = 0;  // 0: the windows' length
  per_axis<Rank> padding = 0;
  per_axis<Rank> dilation = 1;    // of max pools
  bool ceil_mode = false;         // whether windows that overhang behind count
  bool count_include_pad = true;  // of average pools: whether padding counts among the elements of a window
  index divisor_override = 0;     // of average pools: what sums are divided by; 0: the number of elements
};
using pool1d_options = pool_options<1>;
using pool2d_options = pool_options<2>;
using pool3d_options = pool_options<3>;

namespace detail {

template <class Axes, auto Kernel>
struct window_length;
/// The shape is written in place: to get it from another template, nvcc would have to name the kernel.
template <int... Axes, auto Kernel>
struct window_length<std::integer_sequence<int, Axes...>, Kernel> {
  using window_shape = shape<Kernel.values[Axes]...>;
};

/// How many elements a window has: with padding, or without.
struct counted_elements {
  index stride, padding, length, extent;
  bool with_padding;

  TENON_HOST_DEVICE float operator()(index window) const {
    const index first = window * stride - padding, last = extent + (with_padding ? padding : 0);
    const index end = first + length < last ? first + length : last;
    return static_cast<float>(end - (with_padding || first > 0 ? first : 0));
  }
};

}  // namespace detail

/// Base of pooling layers over windows of one length, which a type knows or, where it is `dyn`, the constructor is
/// given with the options.
/// extents   [batch, channels, ...]: (extent + 2 padding - dilation (kernel - 1) - 1) / stride + 1, in ceil_mode
///           rounded up, but for windows that would begin behind the input and its padding
/// throws    shape_error when padding is more than half a window, or no window fits
template <class Layer, int Rank, per_axis<Rank> Kernel, pool_options<Rank> Options>
struct pool_layer : stateless, detail::window_length<std::make_integer_sequence<int, Rank>, Kernel> {
  static constexpr bool is_static = Kernel[0] != dyn;
  static constexpr bool stays_inside = is_static && Options.padding == per_axis<Rank>(0) && !Options.ceil_mode;
  static constexpr int rank = Rank;
  static constexpr bool takes_padding = true, takes_dilation = true;
  per_axis<Rank> kernel = Kernel;
  pool_options<Rank> options = Options;

  pool_layer()
    requires(is_static)
  {
    check_options();
  }
  explicit pool_layer(const per_axis<Rank>& window, const pool_options<Rank>& given = pool_options<Rank>{})
    requires(!is_static)
      : kernel(window), options(given) {
    check_options();
  }

  template <shape_type Input>
  constexpr auto output_shape(const Input& input) const {
    check_rank<Layer, Rank + 2, Input>();
    array<index, Rank + 2> extents{{input.extent(0), input.extent(1)}};
    for (int axis = 0; axis < Rank; ++axis) extents[2 + axis] = pooled(input.extent(2 + axis), kernel, options, axis);
    return shape_of<detail::output_extents<pool_layer, Input>, Rank + 2>(extents);
  }
  /// What the type knows of the extents of its output for inputs of a shape.
  template <class Input>
  static constexpr index known_output(int axis) {
    const index extent = Input::static_extent(axis);
    return axis < 2 ? extent : is_static && extent != dyn ? pooled(extent, Kernel, Options, axis - 2) : dyn;
  }

  /// The windows of an input; what they see beside it is `outside`.
  template <class Input>
  auto windows_of(const Input& x, typename Input::element outside) const {
    const typename pool_layer::window_shape length(to_array(kernel));
    if constexpr (stays_inside) {
      return windows(x, detail::image_axes<Rank>, length, strides(), to_array(options.dilation));
    } else {
      even_windows<Rank> places{{},        to_array(kernel),          {},
                                strides(), to_array(options.padding), to_array(options.dilation)};
      for (int axis = 0; axis < Rank; ++axis) {
        places.image[axis] = x.shape().extent(2 + axis);
        places.output[axis] = pooled(places.image[axis], kernel, options, axis);
      }
      check_windows(x.shape().to_array(), places.output);
      return placed_windows(x, places, length, outside);
    }
  }

 protected:
  index stride(int axis) const { return options.stride[axis] == 0 ? kernel[axis] : options.stride[axis]; }
  index taps() const {
    index count = 1;
    for (int axis = 0; axis < Rank; ++axis) count *= kernel[axis];
    return count;
  }

 private:
  static constexpr array<index, Rank> to_array(const per_axis<Rank>& numbers) {
    array<index, Rank> result{};
    for (int axis = 0; axis < Rank; ++axis) result[axis] = numbers[axis];
    return result;
  }
  array<index, Rank> strides() const {
    array<index, Rank> result{};
    for (int axis = 0; axis < Rank; ++axis) result[axis] = stride(axis);
    return result;
  }
  static constexpr index pooled(index extent, const per_axis<Rank>& window, const pool_options<Rank>& given, int axis) {
    const index stride = given.stride[axis] == 0 ? window[axis] : given.stride[axis], padding = given.padding[axis];
    const index count =
        window_count(extent, window[axis], stride, padding, given.dilation[axis], given.ceil_mode ? stride - 1 : 0);
    return given.ceil_mode && count > 1 && (count - 1) * stride >= extent + padding ? count - 1 : count;
  }
  void check_options() const {
    for (int axis = 0; axis < Rank; ++axis) {
      if (!Layer::takes_dilation) detail::check_size<Layer>("dilation", options.dilation[axis], 1);
      if (!Layer::takes_padding) detail::check_size<Layer>("padding", options.padding[axis], 0);
      const index span = options.dilation[axis] * (kernel[axis] - 1) + 1;
      if (options.padding[axis] < 0 || options.padding[axis] > span / 2) {
        throw shape_error(compose_text(Layer::name, ": axis ", 2 + axis, ": padding ", options.padding[axis],
                                       ", expected at most half of the window's ", span));
      }
    }
  }
  void check_windows(const array<index, Rank + 2>& extents, const array<index, Rank>& counts) const {
    for (int axis = 0; axis < Rank; ++axis) {
      if (counts[axis] < 1) {
        throw shape_error(compose_text(Layer::name, ": axis ", 2 + axis, ": extent ", extents[2 + axis],
                                       ", expected room for a window of ",
                                       options.dilation[axis] * (kernel[axis] - 1) + 1, " (input ", extents, ")"));
      }
    }
  }
};

/// The greatest value of each window; padding is never it, NaN always.
template <class Layer, int Rank, per_axis<Rank> Kernel, pool_options<Rank> Options>
struct max_pool_layer : pool_layer<Layer, Rank, Kernel, Options>, greatest_of_windows<Layer> {
  static_assert(Options.count_include_pad && Options.divisor_override == 0,
                "tenon: only average pools count the elements of their windows");
  static constexpr bool divides_input = pool_layer<Layer, Rank, Kernel, Options>::stays_inside &&
                                        Options.dilation == per_axis<Rank>(1) &&
                                        (Options.stride == per_axis<Rank>(0) || Options.stride == Kernel);
  using pool_layer<Layer, Rank, Kernel, Options>::pool_layer;
};

/// The mean of each window.
template <class Layer, int Rank, per_axis<Rank> Kernel, pool_options<Rank> Options>
struct avg_pool_layer : pool_layer<Layer, Rank, Kernel, Options>, expression_layer<Layer> {
  static_assert(Options.dilation == per_axis<Rank>(1), "tenon: only max pools have dilation");
  static constexpr bool takes_dilation = false;
  using base = pool_layer<Layer, Rank, Kernel, Options>;
  using base::base;
  /// Whether the type says that all windows count as many elements.
  static constexpr bool counts_alike =
      base::stays_inside || (base::is_static && !Options.ceil_mode && Options.count_include_pad);

  template <class Input>
  auto expression(const Input& x) const {
    using element = typename Input::element;
    const auto sums = sum(this->windows_of(x, element(0.0f)), detail::tap_axes<Rank>);
    if constexpr (counts_alike) {
      return sums /
             static_cast<float>(this->options.divisor_override == 0 ? this->taps() : this->options.divisor_override);
    } else {
      return sums / divisor(x, std::make_integer_sequence<int, Rank>{});
    }
  }

 private:
  template <class Input, int... Axes>
  auto divisor(const Input& x, std::integer_sequence<int, Axes...>) const {
    const auto output = this->output_shape(x.shape());
    const auto along = [&](int axis) {
      const auto& given = this->options;
      // One number for all windows is a stride of 0 over a window of that length.
      if (given.divisor_override != 0) {
        const index count = axis == 0 ? given.divisor_override : 1;
        return detail::counted_elements{0, 0, count, count, true};
      }
      return detail::counted_elements{this->stride(axis), given.padding[axis], this->kernel[axis],
                                      x.shape().extent(2 + axis), given.count_include_pad};
    };
    return (over_channels<Rank + 1 - Axes>(map(along(Axes), iota<index>(tenon::rank<1>(output.extent(2 + Axes))))) *
            ...);
  }
};

/// The norm of each window: (sum of x^p)^(1/p), by default p = 2, as PyTorch does: windows that overhang in ceil_mode
/// count as if their other elements were as great. Where a norm is 0, so is its gradient.
template <class Layer, int Rank, per_axis<Rank> Kernel, pool_options<Rank> Options>
struct lp_pool_layer : avg_pool_layer<Layer, Rank, Kernel, Options> {
  static_assert(Options.padding == per_axis<Rank>(0), "tenon: norms of windows have no padding");
  static constexpr bool takes_padding = false;
  using base = avg_pool_layer<Layer, Rank, Kernel, Options>;
  float norm = 2;

  lp_pool_layer() = default;
  explicit lp_pool_layer(float p) : norm(p) {}
  lp_pool_layer(float p, const per_axis<Rank>& window, const pool_options<Rank>& given = pool_options<Rank>{})
    requires(!base::is_static)
      : base(window, given), norm(p) {}

  template <class Input>
  auto expression(const Input& x) const {
    const auto sums = base::expression(pow(x, norm)) * static_cast<float>(this->taps());
    return tenon::detail::level_pow(sums, 1.0 / norm);
  }
};

template <per_axis<1> Kernel, pool1d_options Options = pool1d_options{}>
struct max_pool1d : max_pool_layer<max_pool1d<Kernel, Options>, 1, Kernel, Options> {
  static constexpr const char* name = "max_pool1d";
  using max_pool_layer<max_pool1d, 1, Kernel, Options>::max_pool_layer;
};
template <per_axis<2> Kernel, pool2d_options Options = pool2d_options{}>
struct max_pool2d : max_pool_layer<max_pool2d<Kernel, Options>, 2, Kernel, Options> {
  static constexpr const char* name = "max_pool2d";
  using max_pool_layer<max_pool2d, 2, Kernel, Options>::max_pool_layer;
};
template <per_axis<3> Kernel, pool3d_options Options = pool3d_options{}>
struct max_pool3d : max_pool_layer<max_pool3d<Kernel, Options>, 3, Kernel, Options> {
  static constexpr const char* name = "max_pool3d";
  using max_pool_layer<max_pool3d, 3, Kernel, Options>::max_pool_layer;
};
template <per_axis<1> Kernel, pool1d_options Options = pool1d_options{}>
struct avg_pool1d : avg_pool_layer<avg_pool1d<Kernel, Options>, 1, Kernel, Options> {
  static constexpr const char* name = "avg_pool1d";
  using avg_pool_layer<avg_pool1d, 1, Kernel, Options>::avg_pool_layer;
};
template <per_axis<2> Kernel, pool2d_options Options = pool2d_options{}>
struct avg_pool2d : avg_pool_layer<avg_pool2d<Kernel, Options>, 2, Kernel, Options> {
  static constexpr const char* name = "avg_pool2d";
  using avg_pool_layer<avg_pool2d, 2, Kernel, Options>::avg_pool_layer;
};
template <per_axis<3> Kernel, pool3d_options Options = pool3d_options{}>
struct avg_pool3d : avg_pool_layer<avg_pool3d<Kernel, Options>, 3, Kernel, Options> {
  static constexpr const char* name = "avg_pool3d";
  using avg_pool_layer<avg_pool3d, 3, Kernel, Options>::avg_pool_layer;
};
template <per_axis<1> Kernel, pool1d_options Options = pool1d_options{}>
struct lp_pool1d : lp_pool_layer<lp_pool1d<Kernel, Options>, 1, Kernel, Options> {
  static constexpr const char* name = "lp_pool1d";
  using lp_pool_layer<lp_pool1d, 1, Kernel, Options>::lp_pool_layer;
};
template <per_axis<2> Kernel, pool2d_options Options = pool2d_options{}>
struct lp_pool2d : lp_pool_layer<lp_pool2d<Kernel, Options>, 2, Kernel, Options> {
  static constexpr const char* name = "lp_pool2d";
  using lp_pool_layer<lp_pool2d, 2, Kernel, Options>::lp_pool_layer;
};
template <per_axis<3> Kernel, pool3d_options Options = pool3d_options{}>
struct lp_pool3d : lp_pool_layer<lp_pool3d<Kernel, Options>, 3, Kernel, Options> {
  static constexpr const char* name = "lp_pool3d";
  using lp_pool_layer<lp_pool3d, 3, Kernel, Options>::lp_pool_layer;
};

}  // namespace tenon::nn
