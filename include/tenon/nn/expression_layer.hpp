// tenon/nn/expression_layer.hpp: layers that are one expression of their input and parameters.
// A layer says its value; its backward pass is the gradient of that, each one statement.
// Floor 7: may include base, core, expr, evaluate, grad, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/grad/gradient.hpp>
#include <tenon/nn/layer.hpp>

namespace tenon::nn {

/// Base of a layer with `expression(input, parameters...)` for nodes; `parameters()` is the tuple of pointers to those,
/// none by default. Both passes follow from it.
template <class Layer>
struct expression_layer : callable<Layer> {
  static constexpr bool forgets_output = true;  // gradients hang on its input alone
  static tuple<> parameters() { return {}; }

  template <class Input>
  auto forward(const Input& input) const {
    using given = typename node_of<const Input&>::shape_type;
    const Layer& layer = static_cast<const Layer&>(*this);
    return apply_tuple(
        [&](const auto*... parameter) {
          return layer.expression(as_node(input), as_node(detail::beside<Layer, given>(parameter->value))...);
        },
        layer.parameters());
  }
  /// Leaves the gradients of the parameters and writes that of the input to `destination`.
  template <class Input, class Output, class Gradient, class Destination>
  void backward(const Input& input, const Output&, const Gradient& gradient, const Destination& destination) {
    using given = typename node_of<const Input&>::shape_type;
    Layer& layer = static_cast<Layer&>(*this);
    const auto x = variable<0>(input);
    const auto parameters = layer.parameters();
    [&]<int... I>(std::integer_sequence<int, I...>) {
      [[maybe_unused]] const auto variables =
          make_tuple_of(variable<I + 1>(detail::beside<Layer, given>(get<I>(parameters)->value))...);
      const auto value = layer.expression(x, get<I>(variables)...);
      [[maybe_unused]] const auto from = [&](const auto& named, auto&& to) {
        const auto [result] = vjp(value, gradient, wrt(named));
        to = result;
      };
      (from(get<I>(variables), detail::beside<Layer, given>(get<I>(parameters)->gradient)), ...);
      if constexpr (is_wanted<Destination>) from(x, destination);
    }(std::make_integer_sequence<int, decltype(parameters)::count>{});
  }
};

}  // namespace tenon::nn
