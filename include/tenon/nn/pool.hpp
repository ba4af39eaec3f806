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

/// Options as a type of numbers.
template <class Stride, class Padding, class Dilation, bool CeilMode, bool CountPadding, index Divisor>
struct pool_settings {
  static constexpr pool_options<Stride::count> value{Stride::value, Padding::value, Dilation::value,
                                                     CeilMode,      CountPadding,   Divisor};
};
template <auto Options, int... Axes>
using pool_settings_of = pool_settings<axis_numbers<Options.stride[Axes]...>, axis_numbers<Options.padding[Axes]...>,
                                       axis_numbers<Options.dilation[Axes]...>, Options.ceil_mode,
                                       Options.count_include_pad, Options.divisor_override>;

/// Whether windows have elements and move on, and none lies in padding alone. A stride of 0 is the windows' length.
template <int Rank>
constexpr bool pool_fits(const per_axis<Rank>& kernel, const pool_options<Rank>& options, int axis) {
  const index dilation = options.dilation[axis], padding = options.padding[axis];
  if (kernel[axis] < 1 || options.stride[axis] < 0 || dilation < 1 || padding < 0) return false;
  const checked_extent span = window_span(kernel[axis], dilation);
  return span.fits() && padding <= span.value() / 2;
}
template <int Rank>
constexpr bool pools_fit(const per_axis<Rank>& kernel, const pool_options<Rank>& options) {
  bool fit = true;
  for (int axis = 0; axis < Rank; ++axis) fit = fit && pool_fits(kernel, options, axis);
  return fit;
}

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
/// throws    shape_error when kernel, stride or dilation is below 1, padding negative or more than half a window (all
///           at compile time where the type has them), or no window fits
template <class Layer, class Kernel, class Settings>
struct pool_layer : stateless {
  static constexpr int rank = Kernel::count;
  static constexpr per_axis<rank> known_kernel = Kernel::value;
  static constexpr pool_options<rank> known_options = Settings::value;
  using window_shape = typename Kernel::template shape_behind<>;
  static constexpr bool is_static = known_kernel[0] != dyn;
  static constexpr bool stays_inside =
      is_static && known_options.padding == per_axis<rank>(0) && !known_options.ceil_mode;
  static constexpr bool takes_padding = true, takes_dilation = true, shares_statements = true;
  static_assert(!is_static || detail::pools_fit(known_kernel, known_options) || must_hold<Layer>,
                "tenon: a pool's kernel, stride and dilation are at least 1, its padding at most half of the window");
  per_axis<rank> kernel = known_kernel;
  pool_options<rank> options = known_options;

  pool_layer()
    requires(is_static)
  {
    check_options();
  }
  explicit pool_layer(const per_axis<rank>& window, const pool_options<rank>& given = pool_options<rank>{})
    requires(!is_static)
      : kernel(window), options(given) {
    check_options();
  }

  template <shape_type Input>
  constexpr auto output_shape(const Input& input) const {
    check_rank<Layer, rank + 2, Input>();
    array<index, rank + 2> extents{{input.extent(0), input.extent(1)}};
    for (int axis = 0; axis < rank; ++axis) extents[2 + axis] = pooled(input.extent(2 + axis), kernel, options, axis);
    return shape_of<detail::output_extents<pool_layer, Input>, rank + 2>(extents);
  }
  /// What the type knows of the extents of its output for inputs of a shape.
  template <class Input>
  static constexpr index known_output(int axis) {
    const index extent = Input::static_extent(axis);
    return axis < 2 ? extent : is_static && extent != dyn ? pooled(extent, known_kernel, known_options, axis - 2) : dyn;
  }

  /// The windows of an input; what they see beside it is `outside`.
  template <class Input>
  auto windows_of(const Input& x, typename Input::element outside) const {
    const window_shape length(to_array(kernel));
    if constexpr (stays_inside) {
      return windows(x, detail::image_axes<rank>, length, strides(), to_array(options.dilation));
    } else {
      return placed_windows(x, placing(x.shape()), length, outside);
    }
  }
  /// Where the windows of an input lie.
  template <shape_type Input>
  even_windows<rank> placing(const Input& input) const {
    even_windows<rank> places{{},        to_array(kernel),          {},
                              strides(), to_array(options.padding), to_array(options.dilation)};
    for (int axis = 0; axis < rank; ++axis) {
      places.image[axis] = input.extent(2 + axis);
      places.output[axis] = pooled(places.image[axis], kernel, options, axis);
    }
    check_windows(input.to_array(), places.output);
    return places;
  }

 protected:
  index stride(int axis) const { return options.stride[axis] == 0 ? kernel[axis] : options.stride[axis]; }
  index taps() const {
    index count = 1;
    for (int axis = 0; axis < rank; ++axis) count *= kernel[axis];
    return count;
  }

 private:
  static constexpr array<index, rank> to_array(const per_axis<rank>& numbers) {
    array<index, rank> result{};
    for (int axis = 0; axis < rank; ++axis) result[axis] = numbers[axis];
    return result;
  }
  array<index, rank> strides() const {
    array<index, rank> result{};
    for (int axis = 0; axis < rank; ++axis) result[axis] = stride(axis);
    return result;
  }
  static constexpr index pooled(index extent, const per_axis<rank>& window, const pool_options<rank>& given, int axis) {
    const index stride = given.stride[axis] == 0 ? window[axis] : given.stride[axis], padding = given.padding[axis];
    const index count = window_count(extent, window[axis], stride, padding, given.dilation[axis],
                                     given.ceil_mode ? stride - 1 : 0, Layer::name);
    return given.ceil_mode && count > 1 && (count - 1) * stride >= extent + padding ? count - 1 : count;
  }
  void check_options() const {
    for (int axis = 0; axis < rank; ++axis) {
      if (!Layer::takes_dilation) detail::check_size<Layer>("dilation", options.dilation[axis], 1);
      if (!Layer::takes_padding) detail::check_size<Layer>("padding", options.padding[axis], 0);
      if (detail::pool_fits(kernel, options, axis)) continue;
      throw shape_error(
          compose_text(Layer::name, ": axis ", 2 + axis, ": kernel ", kernel[axis], ", stride ", options.stride[axis],
                       ", dilation ", options.dilation[axis], ", padding ", options.padding[axis],
                       ", expected at least 1, 0 (for the kernel's), 1 and 0, and padding of at most half the window"));
    }
  }
  void check_windows(const array<index, rank + 2>& extents, const array<index, rank>& counts) const {
    for (int axis = 0; axis < rank; ++axis) {
      if (counts[axis] < 1) {
        throw shape_error(compose_text(Layer::name, ": axis ", 2 + axis, ": extent ", extents[2 + axis],
                                       ", expected room for a window of ",
                                       options.dilation[axis] * (kernel[axis] - 1) + 1, " (input ", extents, ")"));
      }
    }
  }
};

/// The greatest value of each window. Padding is never the greatest; a NaN always is.
template <class Kernel, class Settings>
struct max_pool_layer : pool_layer<max_pool_layer<Kernel, Settings>, Kernel, Settings>,
                        greatest_of_windows<max_pool_layer<Kernel, Settings>> {
  using base = pool_layer<max_pool_layer, Kernel, Settings>;
  using base::base, base::rank, base::known_options;
  static constexpr const char* names[3] = {"max_pool1d", "max_pool2d", "max_pool3d"};
  static constexpr const char* name = names[rank - 1];
  static_assert(known_options.count_include_pad && known_options.divisor_override == 0,
                "tenon: only average pools count the elements of their windows");
  static constexpr bool divides_input =
      base::stays_inside && known_options.dilation == per_axis<rank>(1) &&
      (known_options.stride == per_axis<rank>(0) || known_options.stride == base::known_kernel);
};

/// Base of layers that make one number of all elements of a window.
template <class Layer, class Kernel, class Settings>
struct mean_of_windows : pool_layer<Layer, Kernel, Settings>, expression_layer<Layer> {
  using base = pool_layer<Layer, Kernel, Settings>;
  using base::base, base::known_options;
  static_assert(known_options.dilation == per_axis<base::rank>(1), "tenon: only max pools have dilation");
  static constexpr bool takes_dilation = false;
  /// Whether the type says that all windows count as many elements.
  static constexpr bool windows_count_equally =
      base::stays_inside || (base::is_static && !known_options.ceil_mode && known_options.count_include_pad);

  template <class Input>
  auto expression(const Input& x) const {
    using element = typename Input::element;
    const auto sums = sum(this->windows_of(x, element(0.0f)), detail::tap_axes<base::rank>);
    if constexpr (windows_count_equally) {
      return sums /
             static_cast<float>(this->options.divisor_override == 0 ? this->taps() : this->options.divisor_override);
    } else {
      return sums / divisor(x, std::make_integer_sequence<int, base::rank>{});
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
    return (
        over_channels<base::rank + 1 - Axes>(map(along(Axes), iota<index>(tenon::rank<1>(output.extent(2 + Axes))))) *
        ...);
  }
};

/// The mean of each window.
template <class Kernel, class Settings>
struct avg_pool_layer : mean_of_windows<avg_pool_layer<Kernel, Settings>, Kernel, Settings> {
  using base = mean_of_windows<avg_pool_layer, Kernel, Settings>;
  using base::base;
  static constexpr const char* names[3] = {"avg_pool1d", "avg_pool2d", "avg_pool3d"};
  static constexpr const char* name = names[base::rank - 1];
};

/// The norm of each window: (sum of x^p)^(1/p), by default p = 2, as PyTorch does: windows that overhang in ceil_mode
/// count as if their other elements were as great. Where a norm is 0, so is its gradient.
template <class Kernel, class Settings>
struct lp_pool_layer : mean_of_windows<lp_pool_layer<Kernel, Settings>, Kernel, Settings> {
  using base = mean_of_windows<lp_pool_layer, Kernel, Settings>;
  using base::rank;
  static constexpr const char* names[3] = {"lp_pool1d", "lp_pool2d", "lp_pool3d"};
  static constexpr const char* name = names[rank - 1];
  static_assert(base::known_options.padding == per_axis<rank>(0), "tenon: norms of windows have no padding");
  static constexpr bool takes_padding = false;
  float norm = 2;

  lp_pool_layer() = default;
  explicit lp_pool_layer(float p) : norm(p) {}
  lp_pool_layer(float p, const per_axis<rank>& window, const pool_options<rank>& given = pool_options<rank>{})
    requires(!base::is_static)
      : base(window, given), norm(p) {}

  template <class Input>
  auto expression(const Input& x) const {
    const auto sums = base::expression(pow(x, norm)) * static_cast<float>(this->taps());
    return tenon::detail::level_pow(sums, 1.0 / norm);
  }
};

/// Pooling layers by PyTorch's names, [batch, channels, ...] -> the same with pooled axes: `nn::max_pool2d<2>{}`.
/// `Kernel` is a number for all axes, or a `per_axis`.
template <per_axis<1> Kernel, pool1d_options Options = pool1d_options{}>
using max_pool1d = max_pool_layer<axis_numbers<Kernel[0]>, detail::pool_settings_of<Options, 0>>;
template <per_axis<2> Kernel, pool2d_options Options = pool2d_options{}>
using max_pool2d = max_pool_layer<axis_numbers<Kernel[0], Kernel[1]>, detail::pool_settings_of<Options, 0, 1>>;
template <per_axis<3> Kernel, pool3d_options Options = pool3d_options{}>
using max_pool3d =
    max_pool_layer<axis_numbers<Kernel[0], Kernel[1], Kernel[2]>, detail::pool_settings_of<Options, 0, 1, 2>>;
template <per_axis<1> Kernel, pool1d_options Options = pool1d_options{}>
using avg_pool1d = avg_pool_layer<axis_numbers<Kernel[0]>, detail::pool_settings_of<Options, 0>>;
template <per_axis<2> Kernel, pool2d_options Options = pool2d_options{}>
using avg_pool2d = avg_pool_layer<axis_numbers<Kernel[0], Kernel[1]>, detail::pool_settings_of<Options, 0, 1>>;
template <per_axis<3> Kernel, pool3d_options Options = pool3d_options{}>
using avg_pool3d =
    avg_pool_layer<axis_numbers<Kernel[0], Kernel[1], Kernel[2]>, detail::pool_settings_of<Options, 0, 1, 2>>;
template <per_axis<1> Kernel, pool1d_options Options = pool1d_options{}>
using lp_pool1d = lp_pool_layer<axis_numbers<Kernel[0]>, detail::pool_settings_of<Options, 0>>;
template <per_axis<2> Kernel, pool2d_options Options = pool2d_options{}>
using lp_pool2d = lp_pool_layer<axis_numbers<Kernel[0], Kernel[1]>, detail::pool_settings_of<Options, 0, 1>>;
template <per_axis<3> Kernel, pool3d_options Options = pool3d_options{}>
using lp_pool3d =
    lp_pool_layer<axis_numbers<Kernel[0], Kernel[1], Kernel[2]>, detail::pool_settings_of<Options, 0, 1, 2>>;

}  // namespace tenon::nn
