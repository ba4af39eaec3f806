// tenon/nn/conv.hpp: convolution layers along one, two or three axes, and transposed ones.
// Names, options, shapes and initialisation are those of torch.nn.Conv1d to torch.nn.ConvTranspose3d.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/expression_layer.hpp>
#include <tenon/nn/per_axis.hpp>
#include <tenon/products.hpp>

namespace tenon::nn {

/// What lies beside an image: zeros, or elements of its own as `pad` takes them.
enum class border { zeros, reflect, replicate, circular };

/// Options of convolution layers along `Rank` axes, with PyTorch's names and defaults.
template <int Rank>
struct conv_options {
  per_axis<Rank> stride = 1;
  per_axis<Rank> padding = 0;  // zeros on both sides, or `same`
  per_axis<Rank> dilation = 1;
  index groups = 1;
  bool bias = true;
  border padding_mode = border::zeros;
  per_axis<Rank> output_padding = 0;  // of transposed layers: how many elements more behind

  bool operator==(const conv_options&) const = default;
};
using conv1d_options = conv_options<1>;
using conv2d_options = conv_options<2>;
using conv3d_options = conv_options<3>;

/// A template argument of convolution layers: stride, padding, dilation and groups are then given to the constructor,
/// and the type knows less about extents.
inline constexpr conv1d_options conv1d_at_run_time{.stride = dyn};
inline constexpr conv2d_options conv2d_at_run_time{.stride = dyn};
inline constexpr conv3d_options conv3d_at_run_time{.stride = dyn};

namespace detail {

/// Whether windows have taps and move on. A kernel that is `dyn` is not known yet.
template <int Rank>
constexpr bool window_moves(const per_axis<Rank>& kernel, const conv_options<Rank>& options, int axis) {
  const index stride = options.stride[axis], dilation = options.dilation[axis], more = options.output_padding[axis];
  const bool has_taps = kernel[axis] >= 1 || kernel[axis] == dyn;
  const bool has_padding = options.padding[axis] >= 0 || options.padding[axis] == same;
  return has_taps && has_padding && stride >= 1 && dilation >= 1 && more >= 0 &&
         (more == 0 || more < stride || more < dilation);
}
template <int Rank>
constexpr bool windows_move(const per_axis<Rank>& kernel, const conv_options<Rank>& options) {
  bool move = true;
  for (int axis = 0; axis < Rank; ++axis) move = move && window_moves(kernel, options, axis);
  return move;
}

/// What types know of the extents of images with `Channels` channels.
template <index Channels>
struct image_extents {
  static constexpr index at(int axis) { return axis == 1 ? Channels : dyn; }
};

/// Options as a type of numbers.
template <class Stride, class Padding, class Dilation, index Groups, bool Bias, border Mode, class OutputPadding>
struct conv_settings {
  static constexpr conv_options<Stride::count> value{Stride::value, Padding::value, Dilation::value,     Groups,
                                                     Bias,          Mode,           OutputPadding::value};
};
template <auto Options, int... Axes>
using conv_settings_of = conv_settings<axis_numbers<Options.stride[Axes]...>, axis_numbers<Options.padding[Axes]...>,
                                       axis_numbers<Options.dilation[Axes]...>, Options.groups, Options.bias,
                                       Options.padding_mode, axis_numbers<Options.output_padding[Axes]...>>;

/// What the type of a convolution layer knows.
template <int Rank>
struct known_conv {
  const char* name;
  bool is_transposed, is_static;
  index in, out;
  per_axis<Rank> kernel;
  conv_options<Rank> options;
};

/// Checks what a convolution layer is given against its type, and numbers against each other.
template <int Rank>
[[gnu::noinline]] void check_conv(const known_conv<Rank>& known, index in, index out, const per_axis<Rank>& kernel,
                                  const conv_options<Rank>& options) {
  check_size(known.name, "in_channels", in, known.in);
  check_size(known.name, "out_channels", out, known.out);
  for (int axis = 0; axis < Rank; ++axis) check_size(known.name, "kernel", kernel[axis], known.kernel[axis]);
  for (const index channels : {in, out}) {
    if (options.groups < 1 || (channels != dyn && channels % options.groups != 0)) {
      throw shape_error(
          compose_text(known.name, ": groups ", options.groups, ", expected a divisor of ", channels, " channels"));
    }
  }
  for (int axis = 0; axis < Rank; ++axis) {
    if (options.padding[axis] == same && (known.is_transposed || options.stride[axis] != 1)) {
      throw shape_error(
          compose_text(known.name, ": axis ", 2 + axis, ": padding `same` and stride ", options.stride[axis],
                       known.is_transposed ? ", which a transposed convolution does not have" : ", expected 1"));
    }
  }
  for (int axis = 0; axis < Rank; ++axis) {
    if (window_moves(kernel, options, axis)) continue;
    throw shape_error(compose_text(
        known.name, ": axis ", 2 + axis, ": kernel ", kernel[axis], ", stride ", options.stride[axis], ", dilation ",
        options.dilation[axis], ", padding ", options.padding[axis], ", output padding ", options.output_padding[axis],
        ", expected at least 1, 1, 1, 0 (or `same`) and 0, and output padding below stride or dilation"));
  }
  if (known.is_static && !(options == known.options)) {
    throw shape_error(compose_text(known.name,
                                   ": options: the type has them; where it has {.stride = dyn}, the "
                                   "constructor is given them"));
  }
  if (options.bias != known.options.bias || options.padding_mode != known.options.padding_mode) {
    throw shape_error(compose_text(known.name,
                                   ": options: bias and padding_mode are the type's; write them in the template "
                                   "argument, as in {.stride = dyn, .bias = false}"));
  }
}

}  // namespace detail

/// What convolution layers of all ranks are; users name them by the aliases at the end of this file.
/// Cross-correlation of images [batch, In, ...] with `Out` kernels, or its transpose, which upsamples. `In`, `Out` and
/// `Kernel` are template arguments, checked at compile time, or `dyn` and given to the constructor.
/// parameters  weight [Out, In / groups, Kernel...], transposed [In, Out / groups, Kernel...]; bias [Out] if any
/// extents     [batch, Out, ...]: (extent + 2 padding - dilation (Kernel - 1) - 1) / stride + 1, transposed
///             (extent - 1) stride - 2 padding + dilation (Kernel - 1) + output_padding + 1; static where all is
/// throws      shape_error when the input has other channels (at compile time where static) or is too small, and when
///             options contradict each other or the type; when kernel, stride or dilation is below 1 or a padding
///             negative, at compile time where the type has them
template <bool Transposed, index In, index Out, class Kernel, class Settings, memory_space Space, dtype T>
struct conv_layer : expression_layer<conv_layer<Transposed, In, Out, Kernel, Settings, Space, T>> {
  static constexpr int rank = Kernel::count;
  static constexpr const char* names[2][3] = {{"conv1d", "conv2d", "conv3d"},
                                              {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"}};
  static constexpr const char* name = names[Transposed ? 1 : 0][rank - 1];
  static constexpr per_axis<rank> known_kernel = Kernel::value;
  static constexpr conv_options<rank> known_options = Settings::value;
  static constexpr bool is_static = known_options.stride[0] != dyn, is_transposed = Transposed;
  static constexpr bool shares_statements = true;
  static_assert(Transposed || known_options.output_padding == per_axis<rank>(0),
                "tenon: only transposed convolutions have output padding");
  static_assert(!Transposed || known_options.padding_mode == border::zeros,
                "tenon: transposed convolutions have no padding but zeros");
  static_assert(!is_static ||
                    ((In == dyn || In % known_options.groups == 0) && (Out == dyn || Out % known_options.groups == 0)),
                "tenon: the groups of a convolution must divide its channels");
  static_assert(!is_static || detail::windows_move(known_kernel, known_options) || must_hold<conv_layer>,
                "tenon: a convolution's kernel, stride and dilation are at least 1, its paddings at least 0");
  using space = Space;
  using element = T;
  template <space_or_element To>
  using moved = conv_layer<Transposed, In, Out, Kernel, Settings, space_after<To, Space>, element_after<To, T>>;
  using input_shape = shape_of<detail::image_extents<In>, rank + 2>;
  static constexpr index seen = Transposed ? Out : In;  // channels
  using weight_shape =
      typename Kernel::template shape_behind<Transposed ? In : Out,
                                             !is_static || seen == dyn ? dyn : seen / known_options.groups>;
  index in_channels = In, out_channels = Out;
  per_axis<rank> kernel = known_kernel;
  conv_options<rank> options = is_static ? known_options : of_type();
  parameter<T, weight_shape, Space> weight;
  parameter<T, shape<Out>, Space> bias;

  conv_layer() { check_options(); }
  explicit conv_layer(const conv_options<rank>& given)
    requires(!is_static)
      : options(given) {
    check_options();
  }
  conv_layer(index in, index out, const per_axis<rank>& window,
             const conv_options<rank>& given = is_static ? known_options : of_type())
      : in_channels(in), out_channels(out), kernel(window), options(given) {
    check_options();
    weight = unwritten_parameter<T, Space>(weight_extents());
    if constexpr (known_options.bias) bias = unwritten_parameter<T, Space>(shape<Out>(out_channels));
  }

  template <shape_type Input>
  constexpr auto output_shape(const Input& input) const {
    check_rank<conv_layer, rank + 2, Input>();
    check_input<conv_layer, 1, In>(input, in_channels);
    array<index, rank + 2> extents{{input.extent(0), out_channels}};
    for (int axis = 0; axis < rank; ++axis) {
      extents[2 + axis] = output_extent(input.extent(2 + axis), kernel, options, axis);
    }
    return shape_of<detail::output_extents<conv_layer, Input>, rank + 2>(extents);
  }

  weight_shape weight_extents() const {
    const index first = Transposed ? in_channels : out_channels, second = Transposed ? out_channels : in_channels;
    array<index, rank + 2> extents{{first, second / options.groups}};
    for (int axis = 0; axis < rank; ++axis) extents[2 + axis] = kernel[axis];
    return weight_shape(extents);
  }
  /// Of a forward pass: one for each output and element of a kernel, padding included; transposed, for each input.
  template <shape_type Input>
  constexpr index multiply_adds(const Input& input) const {
    index of_each = (Transposed ? out_channels : in_channels) / options.groups;
    for (int axis = 0; axis < rank; ++axis) of_each *= kernel[axis];
    return of_each * (Transposed ? input.count() : output_shape(input).count());
  }

  void initialise(std::uint64_t seed) {
    const weight_shape extents = weight_extents();
    index fan_in = extents.extent(1);
    for (int axis = 0; axis < rank; ++axis) fan_in *= kernel[axis];
    weight = uniform_parameter<T, Space>(extents, 2 * seed, default_bound(fan_in));
    if constexpr (known_options.bias) {
      bias = uniform_parameter<T, Space>(shape<Out>(out_channels), 2 * seed + 1, default_bound(fan_in));
    }
  }
  template <space_or_element To>
  auto to() const {
    moved<To> copy(in_channels, out_channels, kernel, options);
    copy.weight = weight.template to<To>();
    if constexpr (known_options.bias) copy.bias = bias.template to<To>();
    return copy;
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    visitor("weight", weight);
    if constexpr (known_options.bias) visitor("bias", bias);
  }
  auto parameters() const { return listed(weight, bias); }
  auto parameters() { return listed(weight, bias); }

  /// What the type knows of the extents of its output for inputs of a shape.
  template <class Input>
  static constexpr index known_output(int axis) {
    if (axis < 2) return axis == 0 ? Input::static_extent(0) : Out;
    const index extent = Input::static_extent(axis);
    const bool is_known = is_static && known_kernel[axis - 2] != dyn && extent != dyn;
    return is_known ? output_extent(extent, known_kernel, known_options, axis - 2) : dyn;
  }

  template <class Input, class Weight, class... Bias>
  auto expression(const Input& x, const Weight& kernels, const Bias&... biases) const {
    return (product(x, kernels) + ... + over_channels<rank + 2>(biases));
  }

 private:
  template <class Parameter, class BiasParameter>
  static auto listed(Parameter& kernels, BiasParameter& biases) {
    if constexpr (known_options.bias) return make_tuple_of(&kernels, &biases);
    else return make_tuple_of(&kernels);
  }
  template <class Input, class Weight>
  auto product(const Input& x, const Weight& kernels) const {
    if constexpr (Transposed) {
      array<index, rank> more{};
      for (int axis = 0; axis < rank; ++axis) more[axis] = options.output_padding[axis];
      return convolve_transpose(x, kernels, geometry(), more);
    } else if constexpr (known_options.padding_mode == border::zeros) {
      return convolve(x, kernels, geometry());
    } else {
      const auto inside = geometry();
      auto beside = inside;
      array<padding, rank + 2> widths{};
      for (int axis = 0; axis < rank; ++axis) {
        widths[2 + axis] = {inside.padding[axis], inside.padding[axis] + inside.extra_padding[axis]};
        beside.padding[axis] = beside.extra_padding[axis] = 0;
      }
      return convolve(pad(x, widths, padding_rule()), kernels, beside);
    }
  }
  static constexpr auto padding_rule() {
    if constexpr (known_options.padding_mode == border::reflect) return reflect;
    else if constexpr (known_options.padding_mode == border::replicate) return replicate;
    else return circular;
  }
  /// PyTorch's defaults, but for what the type says.
  static constexpr conv_options<rank> of_type() {
    return {.bias = known_options.bias, .padding_mode = known_options.padding_mode};
  }
  window_geometry<rank> geometry() const {
    window_geometry<rank> result{.groups = options.groups};
    for (int axis = 0; axis < rank; ++axis) {
      const index reach = options.dilation[axis] * (kernel[axis] - 1);
      const bool keeps = options.padding[axis] == same;
      result.stride[axis] = options.stride[axis];
      result.dilation[axis] = options.dilation[axis];
      result.padding[axis] = keeps ? reach / 2 : options.padding[axis];
      result.extra_padding[axis] = keeps ? reach % 2 : 0;
    }
    return result;
  }
  static constexpr index output_extent(index extent, const per_axis<rank>& window, const conv_options<rank>& given,
                                       int axis) {
    const index stride = given.stride[axis], dilation = given.dilation[axis], padding = given.padding[axis];
    if (Transposed) return transposed_extent(extent, window, given, axis);
    return padding == same ? extent : window_count(extent, window[axis], stride, padding, dilation, 0, name);
  }
  static constexpr index transposed_extent(index extent, const per_axis<rank>& window, const conv_options<rank>& given,
                                           int axis) {
    const checked_extent reach = (checked_extent(extent) - 1) * given.stride[axis],
                         result = reach - checked_extent(given.padding[axis]) * 2 + given.output_padding[axis] +
                                  window_span(window[axis], given.dilation[axis]);
    if (result.fits()) return result.value();
    throw shape_error(compose_text(name, ": axis ", 2 + axis, ": extent ", extent, " with stride ", given.stride[axis],
                                   ", dilation ", given.dilation[axis], ", padding ", given.padding[axis],
                                   ", expected a result within 64 bits"));
  }
  void check_options() const {
    detail::check_conv<rank>({name, Transposed, is_static, In, Out, known_kernel, known_options}, in_channels,
                             out_channels, kernel, options);
  }
};

/// Convolution layers by PyTorch's names: `nn::conv2d<3, 8, 3>{}`. `Kernel` is a number for all axes, or a `per_axis`.
template <index In, index Out, per_axis<1> Kernel, conv1d_options Options = conv1d_options{}, memory_space Space = host,
          dtype T = float>
using conv1d = conv_layer<false, In, Out, axis_numbers<Kernel[0]>, detail::conv_settings_of<Options, 0>, Space, T>;
template <index In, index Out, per_axis<2> Kernel, conv2d_options Options = conv2d_options{}, memory_space Space = host,
          dtype T = float>
using conv2d =
    conv_layer<false, In, Out, axis_numbers<Kernel[0], Kernel[1]>, detail::conv_settings_of<Options, 0, 1>, Space, T>;
template <index In, index Out, per_axis<3> Kernel, conv3d_options Options = conv3d_options{}, memory_space Space = host,
          dtype T = float>
using conv3d = conv_layer<false, In, Out, axis_numbers<Kernel[0], Kernel[1], Kernel[2]>,
                          detail::conv_settings_of<Options, 0, 1, 2>, Space, T>;
template <index In, index Out, per_axis<1> Kernel, conv1d_options Options = conv1d_options{}, memory_space Space = host,
          dtype T = float>
using conv_transpose1d =
    conv_layer<true, In, Out, axis_numbers<Kernel[0]>, detail::conv_settings_of<Options, 0>, Space, T>;
template <index In, index Out, per_axis<2> Kernel, conv2d_options Options = conv2d_options{}, memory_space Space = host,
          dtype T = float>
using conv_transpose2d =
    conv_layer<true, In, Out, axis_numbers<Kernel[0], Kernel[1]>, detail::conv_settings_of<Options, 0, 1>, Space, T>;
template <index In, index Out, per_axis<3> Kernel, conv3d_options Options = conv3d_options{}, memory_space Space = host,
          dtype T = float>
using conv_transpose3d = conv_layer<true, In, Out, axis_numbers<Kernel[0], Kernel[1], Kernel[2]>,
                                    detail::conv_settings_of<Options, 0, 1, 2>, Space, T>;

}  // namespace tenon::nn
