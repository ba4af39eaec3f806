// tenon/nn/activation.hpp: layers that work element by element, and softmax.
// Definitions, defaults and the order of arguments are those of PyTorch.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/expression_layer.hpp>

namespace tenon::nn {

namespace detail {

/// How many operands of an operation may be left out.
template <class Op>
inline constexpr int argument_count = 0;
template <class Op>
  requires requires { Op::defaults; }
inline constexpr int argument_count<Op> = static_cast<int>(Op::defaults.size());

}  // namespace detail

/// A pointwise operation as a layer: [...] -> [...]. Its numbers, PyTorch's arguments, are given in braces.
/// example   nn::gelu{}, nn::leaky_relu{0.2}, nn::softplus{1, 20}
template <class Op, int Arguments = detail::argument_count<Op>>
struct activation : stateless, expression_layer<activation<Op, Arguments>> {
  static constexpr const char* name = Op::name;
  /// Whether the slope at x is that at its value, so that the output is enough for the gradient.
  static constexpr bool keeps_slope = std::is_same_v<Op, relu_op> || std::is_same_v<Op, relu6_op>;
  static constexpr bool shares_statements = true;
  array<double, Arguments> arguments;

  constexpr activation()
    requires(Arguments == detail::argument_count<Op>)
  {
    if constexpr (Arguments != 0) arguments = Op::defaults;
  }
  template <std::convertible_to<double>... Numbers>
    requires(sizeof...(Numbers) == Arguments && Arguments != 0)
  constexpr explicit activation(Numbers... numbers) : arguments{{static_cast<double>(numbers)...}} {}

  template <shape_type Input>
  static constexpr Input output_shape(const Input& input) {
    return input;
  }
  template <class Input>
  auto expression(const Input& x) const {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return make_pointwise(Op{}, x, arguments[I]...);
    }(std::make_integer_sequence<int, Arguments>{});
  }
};

using relu = activation<relu_op>;
using relu6 = activation<relu6_op>;
using leaky_relu = activation<leaky_relu_op>;
using threshold = activation<threshold_op, 2>;
using elu = activation<elu_op>;
using celu = activation<celu_op>;
using selu = activation<selu_op>;
using sigmoid = activation<sigmoid_op>;
using log_sigmoid = activation<log_sigmoid_op>;
using silu = activation<silu_op>;
using gelu = activation<gelu_op>;
using gelu_tanh = activation<gelu_tanh_op>;
using softplus = activation<softplus_op>;
using mish = activation<mish_op>;
using softsign = activation<softsign_op>;
using tanh = activation<tanh_op>;
using hardsigmoid = activation<hard_sigmoid_op>;
using hardswish = activation<hard_swish_op>;
using hardtanh = activation<hard_tanh_op>;
using hardshrink = activation<hard_shrink_op>;
using softshrink = activation<soft_shrink_op>;
using tanhshrink = activation<tanh_shrink_op>;

/// x above 0 and weight * x below: [batch, channels, ...] -> the same; one weight, or one for each channel (axis 1).
/// parameters  weight [Channels], 0.25 at first
template <index Channels = 1, memory_space Space = host, dtype T = float>
struct prelu : expression_layer<prelu<Channels, Space, T>> {
  static constexpr const char* name = "prelu";
  using space = Space;
  using element = T;
  template <space_or_element To>
  using moved = prelu<Channels, space_after<To, Space>, element_after<To, T>>;
  parameter<T, shape<Channels>, Space> weight;

  auto parameters() const { return make_tuple_of(&weight); }
  auto parameters() { return make_tuple_of(&weight); }
  void initialise(std::uint64_t) {
    weight = {full<T, Space>(shape<Channels>{}, T(0.25f)), zeros<T, Space>(shape<Channels>{})};
  }
  template <space_or_element To>
  moved<To> to() const {
    moved<To> copy;
    copy.weight = weight.template to<To>();
    return copy;
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    visitor("weight", weight);
  }

  template <shape_type Input>
  static constexpr Input output_shape(const Input& input) {
    if constexpr (Channels != 1) check_input<prelu, 1, Channels>(input);
    return input;
  }
  template <class Input, class Weight>
  auto expression(const Input& x, const Weight& slopes) const {
    if constexpr (Channels == 1) return tenon::leaky_relu(x, slopes);
    else return tenon::leaky_relu(x, over_channels<Input::shape_type::rank>(slopes));
  }
};

/// The first half of an axis times the sigmoid of the second.
/// extents   that axis halved
/// source    Dauphin, Fan, Auli, Grangier 2016: Language modeling with gated convolutional networks
template <int Axis = -1>
struct glu : stateless, expression_layer<glu<Axis>> {
  static constexpr const char* name = "glu";

  template <shape_type Input>
  static auto output_shape(const Input& input) {
    constexpr int halved = normalise_axis(Axis, Input::rank);
    constexpr index half = tenon::detail::part_extent(Input::static_extent(halved), 2);
    return with_extent<halved, half>(input, input.extent(halved) / 2);
  }
  template <class Input>
  auto expression(const Input& x) const {
    const auto halves = split<2>(x, axis<Axis>);
    return halves[0] * tenon::sigmoid(halves[1]);
  }
};

namespace detail {

struct softmax_function {
  static constexpr const char* name = "softmax";
  static auto of(const auto& x, auto axes) { return tenon::softmax(x, axes); }
};
struct log_softmax_function {
  static constexpr const char* name = "log_softmax";
  static auto of(const auto& x, auto axes) { return tenon::log_softmax(x, axes); }
};
struct softmin_function {
  static constexpr const char* name = "softmin";
  static auto of(const auto& x, auto axes) { return tenon::softmax(-x, axes); }
};

}  // namespace detail

/// softmax, log_softmax or softmin along an axis, by default the last one, as a layer: [...] -> [...].
/// example   nn::softmax<>{}, nn::log_softmax<1>{}
template <class Function, int Axis>
struct along_axis : stateless, expression_layer<along_axis<Function, Axis>> {
  static constexpr const char* name = Function::name;

  template <shape_type Input>
  static constexpr Input output_shape(const Input& input) {
    return input;
  }
  template <class Input>
  auto expression(const Input& x) const {
    return Function::of(x, axis<Axis>);
  }
};
template <int Axis = -1>
using softmax = along_axis<detail::softmax_function, Axis>;
template <int Axis = -1>
using log_softmax = along_axis<detail::log_softmax_function, Axis>;
template <int Axis = -1>
using softmin = along_axis<detail::softmin_function, Axis>;

}  // namespace tenon::nn
