// tenon/nn/conv.hpp: convolution layers along one, two or three axes, and transposed ones.
// Names, options, shapes and initialisation are those of torch.nn.Conv1d to torch.nn.ConvTranspose3d.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/expression_layer.hpp>
#include <tenon/nn/per_axis.hpp>

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

/// As a template argument: stride, padding, dilation and groups are given to the constructor, so that the type knows
/// less of extents.
inline constexpr conv1d_options conv1d_at_run_time{.stride = dyn};
inline constexpr conv2d_options conv2d_at_run_time{.stride = dyn};
inline constexpr conv3d_options conv3d_at_run_time{.stride = dyn};

namespace detail {

/// What types know of the extents of images with `Channels` channels.
template <index Channels>
struct image_extents {
  static constexpr index at(int axis) { return axis == 1 ? Channels : dyn; }
};

template <class Axes, bool Transposed, index In, index Out, auto Kernel, auto Options, memory_space Space, dtype T>
struct conv_parameters;
/// The shape is written with `Axes` in place: to get it from another template, nvcc would have to name the options.
template <int... Axes, bool Transposed, index In, index Out, auto Kernel, auto Options, memory_space Space, dtype T>
struct conv_parameters<std::integer_sequence<int, Axes...>, Transposed, In, Out, Kernel, Options, Space, T> {
  static constexpr index seen = Transposed ? Out : In;  // channels
  using weight_shape =
      shape<Transposed ? In : Out, Options.stride.values[0] == dyn || seen == dyn ? dyn : seen / Options.groups,
            Kernel.values[Axes]...>;
  parameter<T, weight_shape, Space> weight;
  parameter<T, shape<Out>, Space> bias;
};

}  // namespace detail

/// Base of convolution layers, and what they have in common; layers are structs of their own, as nvcc loses template
/// arguments that are classes when an alias hands them on.
/// Cross-correlation of images [batch, In, ...] with `Out` kernels, or its transpose, which upsamples. `In`, `Out` and
/// `Kernel` are template arguments, checked at compile time, or `dyn` and given to the constructor.
/// parameters  weight [Out, In / groups, Kernel...], transposed [In, Out / groups, Kernel...]; bias [Out] if any
/// extents     [batch, Out, ...]: (extent + 2 padding - dilation (Kernel - 1) - 1) / stride + 1, transposed
///             (extent - 1) stride - 2 padding + dilation (Kernel - 1) + output_padding + 1; static where all is
/// throws      shape_error when the input has other channels (at compile time where static) or is too small, and when
///             options contradict each other or the type
template <class Layer, int Rank, bool Transposed, index In, index Out, per_axis<Rank> Kernel,
          conv_options<Rank> Options, memory_space Space, dtype T>
struct conv_layer
    : expression_layer<Layer>,
      detail::conv_parameters<std::make_integer_sequence<int, Rank>, Transposed, In, Out, Kernel, Options, Space, T> {
  static constexpr bool is_static = Options.stride[0] != dyn, is_transposed = Transposed;
  static_assert(Transposed || Options.output_padding == per_axis<Rank>(0),
                "tenon: only transposed convolutions have output padding");
  static_assert(!Transposed || Options.padding_mode == border::zeros,
                "tenon: transposed convolutions have no padding but zeros");
  static_assert(!is_static || ((In == dyn || In % Options.groups == 0) && (Out == dyn || Out % Options.groups == 0)),
                "tenon: the groups of a convolution must divide its channels");
  using space = Space;
  using input_shape = shape_of<detail::image_extents<In>, Rank + 2>;
  index in_channels = In, out_channels = Out;
  per_axis<Rank> kernel = Kernel;
  conv_options<Rank> options = is_static ? Options : of_type();

  conv_layer() { check_options(); }
  explicit conv_layer(const conv_options<Rank>& given)
    requires(!is_static)
      : options(given) {
    check_options();
  }
  conv_layer(index in, index out, const per_axis<Rank>& window,
             const conv_options<Rank>& given = is_static ? Options : of_type())
      : in_channels(in), out_channels(out), kernel(window), options(given) {
    check_options();
  }

  template <shape_type Input>
  constexpr auto output_shape(const Input& input) const {
    check_rank<Layer, Rank + 2, Input>();
    check_input<Layer, 1, In>(input, in_channels);
    array<index, Rank + 2> extents{{input.extent(0), out_channels}};
    for (int axis = 0; axis < Rank; ++axis) {
      extents[2 + axis] = output_extent(input.extent(2 + axis), kernel, options, axis);
    }
    return shape_of<detail::output_extents<conv_layer, Input>, Rank + 2>(extents);
  }

  /// Of a forward pass: one for each output and element of a kernel, padding included; transposed, for each input.
  template <shape_type Input>
  constexpr index multiply_adds(const Input& input) const {
    index of_each = (Transposed ? out_channels : in_channels) / options.groups;
    for (int axis = 0; axis < Rank; ++axis) of_each *= kernel[axis];
    return of_each * (Transposed ? input.count() : output_shape(input).count());
  }

  void initialise(std::uint64_t seed) {
    const index groups = options.groups, first = Transposed ? in_channels : out_channels;
    array<index, Rank + 2> extents{{first, (Transposed ? out_channels : in_channels) / groups}};
    index fan_in = extents[1];
    for (int axis = 0; axis < Rank; ++axis) extents[2 + axis] = kernel[axis], fan_in *= kernel[axis];
    this->weight =
        uniform_parameter<T, Space>(typename conv_layer::weight_shape(extents), 2 * seed, default_bound(fan_in));
    if constexpr (Options.bias) {
      this->bias = uniform_parameter<T, Space>(shape<Out>(out_channels), 2 * seed + 1, default_bound(fan_in));
    }
  }
  template <space_or_element To>
  auto to() const {
    typename Layer::template moved<To> copy(in_channels, out_channels, kernel, options);
    copy.weight = this->weight.template to<To>();
    if constexpr (Options.bias) copy.bias = this->bias.template to<To>();
    return copy;
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    visitor("weight", this->weight);
    if constexpr (Options.bias) visitor("bias", this->bias);
  }
  auto parameters() const { return listed(this->weight, this->bias); }
  auto parameters() { return listed(this->weight, this->bias); }

  /// What the type knows of the extents of its output for inputs of a shape.
  template <class Input>
  static constexpr index known_output(int axis) {
    if (axis < 2) return axis == 0 ? Input::static_extent(0) : Out;
    const index extent = Input::static_extent(axis);
    const bool is_known = is_static && Kernel[axis - 2] != dyn && extent != dyn;
    return is_known ? output_extent(extent, Kernel, Options, axis - 2) : dyn;
  }

  template <class Input, class Weight, class... Bias>
  auto expression(const Input& x, const Weight& kernels, const Bias&... biases) const {
    return (product(x, kernels) + ... + over_channels<Rank + 2>(biases));
  }

 private:
  template <class Parameter, class BiasParameter>
  static auto listed(Parameter& kernels, BiasParameter& biases) {
    if constexpr (Options.bias) return make_tuple_of(&kernels, &biases);
    else return make_tuple_of(&kernels);
  }
  template <class Input, class Weight>
  auto product(const Input& x, const Weight& kernels) const {
    if constexpr (Transposed) {
      array<index, Rank> more{};
      for (int axis = 0; axis < Rank; ++axis) more[axis] = options.output_padding[axis];
      return convolve_transpose(x, kernels, geometry(), more);
    } else if constexpr (Options.padding_mode == border::zeros) {
      return convolve(x, kernels, geometry());
    } else {
      const auto inside = geometry();
      auto beside = inside;
      array<padding, Rank + 2> widths{};
      for (int axis = 0; axis < Rank; ++axis) {
        widths[2 + axis] = {inside.padding[axis], inside.padding[axis] + inside.extra_padding[axis]};
        beside.padding[axis] = beside.extra_padding[axis] = 0;
      }
      return convolve(pad(x, widths, padding_rule()), kernels, beside);
    }
  }
  static constexpr auto padding_rule() {
    if constexpr (Options.padding_mode == border::reflect) return reflect;
    else if constexpr (Options.padding_mode == border::replicate) return replicate;
    else return circular;
  }
  /// PyTorch's defaults, but for what the type says.
  static constexpr conv_options<Rank> of_type() { return {.bias = Options.bias, .padding_mode = Options.padding_mode}; }
  window_geometry<Rank> geometry() const {
    window_geometry<Rank> result{.groups = options.groups};
    for (int axis = 0; axis < Rank; ++axis) {
      const index reach = options.dilation[axis] * (kernel[axis] - 1);
      const bool keeps = options.padding[axis] == same;
      result.stride[axis] = options.stride[axis];
      result.dilation[axis] = options.dilation[axis];
      result.padding[axis] = keeps ? reach / 2 : options.padding[axis];
      result.extra_padding[axis] = keeps ? reach % 2 : 0;
    }
    return result;
  }
  static constexpr index output_extent(index extent, const per_axis<Rank>& window, const conv_options<Rank>& given,
                                       int axis) {
    const index stride = given.stride[axis], dilation = given.dilation[axis], padding = given.padding[axis];
    if (Transposed) {
      return (extent - 1) * stride - 2 * padding + dilation * (window[axis] - 1) + given.output_padding[axis] + 1;
    }
    return padding == same ? extent : window_count(extent, window[axis], stride, padding, dilation);
  }
  void check_options() const {
    detail::check_size<Layer>("in_channels", in_channels, In);
    detail::check_size<Layer>("out_channels", out_channels, Out);
    for (int axis = 0; axis < Rank; ++axis) detail::check_size<Layer>("kernel", kernel[axis], Kernel[axis]);
    for (const index channels : {in_channels, out_channels}) {
      if (options.groups < 1 || (channels != dyn && channels % options.groups != 0)) {
        throw shape_error(
            compose_text(Layer::name, ": groups ", options.groups, ", expected a divisor of ", channels, " channels"));
      }
    }
    for (int axis = 0; axis < Rank; ++axis) {
      if (options.padding[axis] == same && (Transposed || options.stride[axis] != 1)) {
        throw shape_error(compose_text(Layer::name, ": axis ", 2 + axis, ": padding `same` and stride ",
                                       options.stride[axis],
                                       Transposed ? ", which a transposed convolution does not have" : ", expected 1"));
      }
    }
    if (is_static && !(options == Options)) {
      throw shape_error(compose_text(Layer::name,
                                     ": options: the type has them; where it has {.stride = dyn}, the "
                                     "constructor is given them"));
    }
    if (options.bias != Options.bias || options.padding_mode != Options.padding_mode) {
      throw shape_error(compose_text(Layer::name,
                                     ": options: bias and padding_mode are the type's; write them in the template "
                                     "argument, as in {.stride = dyn, .bias = false}"));
    }
  }
};

template <index In, index Out, per_axis<1> Kernel, conv1d_options Options = conv1d_options{}, memory_space Space = host,
          dtype T = float>
struct conv1d : conv_layer<conv1d<In, Out, Kernel, Options, Space, T>, 1, false, In, Out, Kernel, Options, Space, T> {
  static constexpr const char* name = "conv1d";
  template <space_or_element To>
  using moved = conv1d<In, Out, Kernel, Options, space_after<To, Space>, element_after<To, T>>;
  using conv_layer<conv1d, 1, false, In, Out, Kernel, Options, Space, T>::conv_layer;
};
template <index In, index Out, per_axis<2> Kernel, conv2d_options Options = conv2d_options{}, memory_space Space = host,
          dtype T = float>
struct conv2d : conv_layer<conv2d<In, Out, Kernel, Options, Space, T>, 2, false, In, Out, Kernel, Options, Space, T> {
  static constexpr const char* name = "conv2d";
  template <space_or_element To>
  using moved = conv2d<In, Out, Kernel, Options, space_after<To, Space>, element_after<To, T>>;
  using conv_layer<conv2d, 2, false, In, Out, Kernel, Options, Space, T>::conv_layer;
};
template <index In, index Out, per_axis<3> Kernel, conv3d_options Options = conv3d_options{}, memory_space Space = host,
          dtype T = float>
struct conv3d : conv_layer<conv3d<In, Out, Kernel, Options, Space, T>, 3, false, In, Out, Kernel, Options, Space, T> {
  static constexpr const char* name = "conv3d";
  template <space_or_element To>
  using moved = conv3d<In, Out, Kernel, Options, space_after<To, Space>, element_after<To, T>>;
  using conv_layer<conv3d, 3, false, In, Out, Kernel, Options, Space, T>::conv_layer;
};
template <index In, index Out, per_axis<1> Kernel, conv1d_options Options = conv1d_options{}, memory_space Space = host,
          dtype T = float>
struct conv_transpose1d
    : conv_layer<conv_transpose1d<In, Out, Kernel, Options, Space, T>, 1, true, In, Out, Kernel, Options, Space, T> {
  static constexpr const char* name = "conv_transpose1d";
  template <space_or_element To>
  using moved = conv_transpose1d<In, Out, Kernel, Options, space_after<To, Space>, element_after<To, T>>;
  using conv_layer<conv_transpose1d, 1, true, In, Out, Kernel, Options, Space, T>::conv_layer;
};
template <index In, index Out, per_axis<2> Kernel, conv2d_options Options = conv2d_options{}, memory_space Space = host,
          dtype T = float>
struct conv_transpose2d
    : conv_layer<conv_transpose2d<In, Out, Kernel, Options, Space, T>, 2, true, In, Out, Kernel, Options, Space, T> {
  static constexpr const char* name = "conv_transpose2d";
  template <space_or_element To>
  using moved = conv_transpose2d<In, Out, Kernel, Options, space_after<To, Space>, element_after<To, T>>;
  using conv_layer<conv_transpose2d, 2, true, In, Out, Kernel, Options, Space, T>::conv_layer;
};
template <index In, index Out, per_axis<3> Kernel, conv3d_options Options = conv3d_options{}, memory_space Space = host,
          dtype T = float>
struct conv_transpose3d
    : conv_layer<conv_transpose3d<In, Out, Kernel, Options, Space, T>, 3, true, In, Out, Kernel, Options, Space, T> {
  static constexpr const char* name = "conv_transpose3d";
  template <space_or_element To>
  using moved = conv_transpose3d<In, Out, Kernel, Options, space_after<To, Space>, element_after<To, T>>;
  using conv_layer<conv_transpose3d, 3, true, In, Out, Kernel, Options, Space, T>::conv_layer;
};

}  // namespace tenon::nn
