// tenon/nn/linear.hpp: the fully connected layer, and what it shares with the bilinear one.
// Names, options, shapes and initialisation are those of torch.nn.Linear.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/layer.hpp>
#include <tenon/products.hpp>

namespace tenon::nn {

/// Options of linear and bilinear layers, with PyTorch's names and defaults.
struct linear_options {
  bool bias = true;
};

/// A weight [Out, In, ...] and, with `Bias`, a bias [Out]: what maps of the last axis of their inputs are made of.
template <class Layer, shape_type Weight, bool Bias, memory_space Space, dtype T>
struct weight_and_bias : callable<Layer> {
  static constexpr index out_features = Weight::static_extent(0);
  using space = Space;
  using element = T;
  Weight extents{};  ///< of the weight
  parameter<T, Weight, Space> weight;
  parameter<T, shape<out_features>, Space> bias;

  /// Sizes that the type knows.
  weight_and_bias() {
    static_assert(Weight::dynamic_rank == 0 || must_hold<Layer>,
                  "tenon: sizes that the type does not know are given to the constructor");
  }
  explicit weight_and_bias(const Weight& given) : extents(given), weight(unwritten_parameter<T, Space>(given)) {
    if constexpr (Bias) bias = unwritten_parameter<T, Space>(shape<out_features>(given.extent(0)));
  }

  void initialise(std::uint64_t seed) {
    const float bound = default_bound(extents.extent(1));
    weight = uniform_parameter<T, Space>(extents, 2 * seed, bound);
    if constexpr (Bias) {
      bias = uniform_parameter<T, Space>(shape<out_features>(extents.extent(0)), 2 * seed + 1, bound);
    }
  }
  template <space_or_element To>
  auto to() const {
    typename Layer::template moved<To> copy(extents);
    copy.weight = weight.template to<To>();
    if constexpr (Bias) copy.bias = bias.template to<To>();
    return copy;
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    visitor("weight", weight);
    if constexpr (Bias) visitor("bias", bias);
  }

 protected:
  /// Checks the last axis of an input against axis `Axis` of the weight.
  template <int Axis, shape_type Input>
  constexpr auto check_features(const Input& input) const {  // auto: as check_input
    static_assert(Input::rank >= 1 || must_hold<Layer>, "tenon: this layer maps the last axis of its input");
    check_input<Layer, Input::rank - 1, Weight::static_extent(Axis)>(input, extents.extent(Axis));
  }
  template <class Product>
  auto with_bias(const Product& product) const {
    if constexpr (Bias) return product + detail::beside<Layer, typename Product::shape_type>(bias.value);
    else return product;
  }
  /// The gradient of the weight is one product over all axes but the last of both operands, that of the bias a sum.
  template <class Gradient, class Input>
  void set_gradients(const Gradient& gradient, const Input& input) {
    constexpr int leading = node_of<const Gradient&>::shape_type::rank - 1;
    [&]<int... I>(std::integer_sequence<int, I...>) {
      using given = typename node_of<const Gradient&>::shape_type;
      detail::beside<Layer, given>(weight.gradient) = tensordot(gradient, input, axis<I...>, axis<I...>);
      if constexpr (Bias && leading == 0) detail::beside<Layer, given>(bias.gradient) = gradient;
      else if constexpr (Bias) detail::beside<Layer, given>(bias.gradient) = sum(gradient, drop<I...>);
    }(std::make_integer_sequence<int, leading>{});
  }
};

/// y = x weight^T + bias for inputs [..., In]; `In` and `Out` are template arguments, or `dyn` and given to the
/// constructor.
/// parameters  weight [Out, In], bias [Out] if any
/// extents     [..., Out]
/// throws      shape_error when the input has another last extent than In (at compile time where it is static)
template <index In, index Out, bool Bias, memory_space Space, dtype T>
struct linear_layer : weight_and_bias<linear_layer<In, Out, Bias, Space, T>, shape<Out, In>, Bias, Space, T> {
  static constexpr const char* name = "linear";
  using weight_and_bias<linear_layer, shape<Out, In>, Bias, Space, T>::weight_and_bias;
  using input_shape = shape<dyn, In>;  // of the input that a network of layers is checked with
  static constexpr bool takes_any_rank = true, forgets_output = true;  // gradients hang on its input alone
  static constexpr bool shares_statements =
      In == dyn || In > 32 || Out == dyn || Out > 32;  // products that none unrolls
  template <space_or_element To>
  using moved = linear_layer<In, Out, Bias, space_after<To, Space>, element_after<To, T>>;

  linear_layer() = default;
  linear_layer(index in, index out) : linear_layer(shape<Out, In>(out, in)) {}

  template <shape_type Input>
  constexpr auto output_shape(const Input& input) const {
    static_assert(Input::rank >= 1 || must_hold<linear_layer>, "tenon: this layer maps the last axis of its input");
    check_input<linear_layer, Input::rank - 1, In>(input, this->extents.extent(1));
    return with_extent<Input::rank - 1, Out>(input, this->extents.extent(0));
  }
  /// Of a forward pass.
  template <shape_type Input>
  constexpr index multiply_adds(const Input& input) const {
    return input.count() * this->extents.extent(0);
  }
  template <class Input>
  auto forward(const Input& input) const {
    return forward_by(this->weight.value.view(), input);
  }
  /// The same by a copy of the weight, whose elements may lie in another order.
  template <class Input>
  auto forward_by(const view<const T, shape<Out, In>, Space>& copy, const Input& input) const {
    return this->with_bias(matmul(input, transpose(detail::beside<linear_layer, typename Input::shape_type>(copy))));
  }
  template <class Input, class Output, class Gradient, class Destination>
  void backward(const Input& input, const Output&, const Gradient& gradient, const Destination& destination) {
    this->set_gradients(gradient, input);
    if constexpr (is_wanted<Destination>) {
      destination = matmul(gradient, detail::beside<linear_layer, typename Gradient::shape_type>(this->weight.value));
    }
  }
};
/// A linear layer, [..., In] -> [..., Out]: `nn::linear<784, 10>{}`, or `nn::linear<dyn, dyn>(784, 10)`.
template <index In, index Out, linear_options Options = linear_options{}, memory_space Space = host, dtype T = float>
using linear = linear_layer<In, Out, Options.bias, Space, T>;

}  // namespace tenon::nn
