// tenon/nn/linear.hpp: the fully connected layer.
// Names, shapes and initialisation are those of torch.nn.Linear.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/module.hpp>

namespace tenon::nn {

/// y = x weight^T + bias for inputs [batch, In].
/// parameters  weight [Out, In], bias [Out]
/// throws      shape_error when the input has another extent than In (at compile time where it is static)
template <index In, index Out, memory_space Space = host, dtype T = float>
struct linear {
  static constexpr const char* name = "linear";
  using space = Space;
  using input_shape = shape<dyn, In>;
  template <memory_space Other>
  using in_space = linear<In, Out, Other, T>;

  parameter<T, shape<Out, In>, Space> weight;
  parameter<T, shape<Out>, Space> bias;

  template <shape_type Input>
  static constexpr auto output_shape(const Input& input) {
    check_rank<linear, 2, Input>();
    check_input<linear, 1, In>(input);
    return shape<Input::static_extent(0), Out>(input.extent(0), Out);
  }

  /// Of a forward pass.
  template <shape_type Input>
  static constexpr index multiply_adds(const Input& input) {
    return input.count() * Out;
  }

  void initialise(std::uint64_t seed) {
    weight = uniform_parameter<T, Space>(shape<Out, In>{}, 2 * seed, default_bound(In));
    bias = uniform_parameter<T, Space>(shape<Out>{}, 2 * seed + 1, default_bound(In));
  }
  template <memory_space Other>
  in_space<Other> to() const {
    return {weight.template to<Other>(), bias.template to<Other>()};
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    visitor("weight", weight), visitor("bias", bias);
  }

  template <class Input>
  auto forward(const Input& input) const {
    return matmul(input, transpose(weight.value)) + bias.value;
  }
  template <class Input, class Output, class Gradient, class Destination>
  void backward(const Input& input, const Output&, const Gradient& gradient, const Destination& destination) {
    weight.gradient = matmul(transpose(gradient), input);
    bias.gradient = sum(gradient, axis<0>);
    if constexpr (is_wanted<Destination>) destination = matmul(gradient, weight.value);
  }
};

}  // namespace tenon::nn
