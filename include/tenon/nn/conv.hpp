// tenon/nn/conv.hpp: convolution layers.
// Names, shapes and initialisation are those of torch.nn.Conv2d.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/module.hpp>

namespace tenon::nn {

/// Options of conv2d, with PyTorch's defaults.
struct conv2d_options {
  index stride = 1;
  index padding = 0;
};

/// The options are given to the constructor, so the type does not know the extents of its output.
inline constexpr conv2d_options at_run_time{.stride = dyn, .padding = dyn};

/// Cross-correlation of images [batch, In, h, w] with `Out` square kernels.
/// parameters  weight [Out, In, Kernel, Kernel], bias [Out]
/// extents     [batch, Out, p, q], p = (h + 2 padding - Kernel) / stride + 1; static when h, w and `Options` are
/// throws      shape_error when the input has other channels (at compile time where static) or is too small
template <index In, index Out, index Kernel, conv2d_options Options = at_run_time, memory_space Space = host,
          dtype T = float>
struct conv2d {
  static constexpr const char* name = "conv2d";
  static constexpr bool is_static = Options.stride != dyn;
  using space = Space;
  using input_shape = shape<dyn, In, dyn, dyn>;
  using weight_shape = shape<Out, In, Kernel, Kernel>;
  template <memory_space Other>
  using in_space = conv2d<In, Out, Kernel, Options, Other, T>;

  conv2d_options options = is_static ? Options : conv2d_options{};
  parameter<T, weight_shape, Space> weight{};
  parameter<T, shape<Out>, Space> bias{};

  template <shape_type Input>
  constexpr auto output_shape(const Input& input) const {
    check_rank<conv2d, 4, Input>();
    check_input<conv2d, 1, In>(input);
    return shape<Input::static_extent(0), Out, static_output<Input>(2), static_output<Input>(3)>(
        input.extent(0), Out, output_extent(input.extent(2)), output_extent(input.extent(3)));
  }

  void initialise(std::uint64_t seed) {
    const float bound = default_bound(In * Kernel * Kernel);
    weight = uniform_parameter<T, Space>(weight_shape{}, 2 * seed, bound);
    bias = uniform_parameter<T, Space>(shape<Out>{}, 2 * seed + 1, bound);
  }
  template <memory_space Other>
  in_space<Other> to() const {
    return {options, weight.template to<Other>(), bias.template to<Other>()};
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    visitor("weight", weight), visitor("bias", bias);
  }

  template <class Input>
  auto forward(const Input& input) const {
    return convolve(input, weight.value, geometry()) + reshape(bias.value, shape<1, Out, 1, 1>{});
  }
  template <class Input, class Output, class Gradient, class Destination>
  void backward(const Input& input, const Output&, const Gradient& gradient, const Destination& destination) {
    weight.gradient = convolve_weight_gradient(gradient, input, {{Kernel, Kernel}}, geometry());
    reshape(bias.gradient, shape<1, Out, 1, 1>{}) = sum(gradient, axis<0, 2, 3>);
    const array<index, 2> extents{{input.extent(2), input.extent(3)}};
    if constexpr (is_wanted<Destination>) {
      destination = convolve_image_gradient(gradient, weight.value, extents, geometry());
    }
  }

 private:
  window_geometry<2> geometry() const {
    return {.stride = {{options.stride, options.stride}}, .padding = {{options.padding, options.padding}}};
  }
  constexpr index output_extent(index extent) const {
    return window_count(extent, Kernel, options.stride, options.padding);
  }
  template <class Input>
  static constexpr index static_output(int axis) {
    if (!is_static || Input::static_extent(axis) == dyn) return dyn;
    return window_count(Input::static_extent(axis), Kernel, Options.stride, Options.padding);
  }
};

}  // namespace tenon::nn
