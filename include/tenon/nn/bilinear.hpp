// tenon/nn/bilinear.hpp: the layer that is linear in each of two inputs.
// Names, options, shapes and initialisation are those of torch.nn.Bilinear.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/linear.hpp>
#include <tenon/products.hpp>

namespace tenon::nn {

/// y[..., o] = sum over i, j of x1[..., i] weight[o, i, j] x2[..., j], plus bias[o], for inputs [..., In1] and
/// [..., In2] of equal extents before the last. Sizes are template arguments, or `dyn` and given to the constructor.
/// parameters  weight [Out, In1, In2], bias [Out] if any
/// extents     [..., Out]
/// throws      shape_error when an input does not fit the weight (at compile time where it is static) or the other
/// cost        one product each way and operand; products of the inputs' elements are never stored
template <index In1, index In2, index Out, bool Bias, memory_space Space, dtype T>
struct bilinear_layer
    : weight_and_bias<bilinear_layer<In1, In2, Out, Bias, Space, T>, shape<Out, In1, In2>, Bias, Space, T> {
  static constexpr const char* name = "bilinear";
  using weight_and_bias<bilinear_layer, shape<Out, In1, In2>, Bias, Space, T>::weight_and_bias;
  template <space_or_element To>
  using moved = bilinear_layer<In1, In2, Out, Bias, space_after<To, Space>, element_after<To, T>>;

  bilinear_layer() = default;
  bilinear_layer(index in1, index in2, index out) : bilinear_layer(shape<Out, In1, In2>(out, in1, in2)) {}

  template <shape_type Input1, shape_type Input2>
  constexpr auto output_shape(const Input1& input1, const Input2& input2) const {
    static_assert(Input1::rank == Input2::rank || must_hold<constant<Input1::rank>, constant<Input2::rank>>,
                  "tenon: the inputs of a bilinear layer have equally many axes");
    this->template check_features<1>(input1);
    this->template check_features<2>(input2);
    check_leading(input1.to_array(), input2.to_array());
    return with_extent<Input1::rank - 1, Out>(input1, this->extents.extent(0));
  }
  template <class Input1, class Input2>
  auto forward(const Input1& input1, const Input2& input2) const {
    (void)output_shape(input1.shape(), input2.shape());
    return this->with_bias(tensordot(pairs(input1, input2), as_node(this->weight.value), axis<-2, -1>, axis<1, 2>));
  }
  template <class... Operands>
  void pull(const Operands&... operands) {
    backward(operands...);
  }
  /// Leaves the gradients of the parameters and writes those of the inputs where they are wanted.
  template <class Input1, class Input2, class Output, class Gradient, class Destination1, class Destination2>
  void backward(const Input1& input1, const Input2& input2, const Output&, const Gradient& gradient,
                const Destination1& destination1, const Destination2& destination2) {
    this->set_gradients(gradient, pairs(input1, input2));
    const auto kernel = as_node(this->weight.value);
    if constexpr (is_wanted<Destination1>) {
      destination1 = tensordot(pairs(gradient, input2), kernel, axis<-2, -1>, axis<0, 2>);
    }
    if constexpr (is_wanted<Destination2>) {
      destination2 = tensordot(pairs(gradient, input1), kernel, axis<-2, -1>, axis<0, 1>);
    }
  }

 private:
  /// Every element of a row of `left` times every one of the same row of `right`: [..., left, right].
  template <class Left, class Right>
  static auto pairs(const Left& left, const Right& right) {
    return new_axis<-1>(as_node(left)) * new_axis<-2>(as_node(right));
  }
  template <int Rank>
  static constexpr void check_leading(const array<index, Rank>& input1, const array<index, Rank>& input2) {
    for (int axis = 0; axis < Rank - 1; ++axis) {
      if (input1[axis] == input2[axis]) continue;
      throw shape_error(compose_text(name, ": axis ", axis, ": extents ", input1[axis], " and ", input2[axis],
                                     " differ (inputs ", input1, " and ", input2, ")"));
    }
  }
};
/// A bilinear layer, [..., In1] and [..., In2] -> [..., Out]: `nn::bilinear<3, 4, 2>{}`.
template <index In1, index In2, index Out, linear_options Options = linear_options{}, memory_space Space = host,
          dtype T = float>
using bilinear = bilinear_layer<In1, In2, Out, Options.bias, Space, T>;

}  // namespace tenon::nn
