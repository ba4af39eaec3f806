// tests/nn/passes.hpp: a layer's backward pass against central differences of its forward pass, in double.
// Outputs are weighted at random, so that each counts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/catch.hpp"
#include "support/gradient.hpp"

namespace tenon_test {

template <class Space, class Shape>
auto random_input(const Shape& extents) {
  return tenon::tensor<float, Shape, tenon::host>(tenon::uniform<float>(extents, 9, -2.0f, 2.0f)).template to<Space>();
}

/// Empty when the gradients of a layer, in its input and in its parameters, agree with differences.
template <class Layer, class Shape>
std::string layer_difference(const Shape& extents, Layer layer = Layer()) {
  layer.initialise(3);
  auto x = drawn(extents, 8);
  const auto output = [&] {
    if constexpr (requires { layer.prepare(x); }) layer.prepare(x);
    return tenon::evaluated_tensor(layer.forward(x));
  };
  const auto y = output();
  const tenon::tensor<double, typename decltype(y)::shape_type> seed(weights_of(y.shape()));
  tenon::tensor<double, Shape> dx(extents);
  layer.backward(x, y, seed, dx.write_view());
  const auto value = [&] { return static_cast<double>(tenon::sum(output() * seed)); };
  std::string text = difference_from_slopes(x, dx, value, 1e-6, 1e-5);
  layer.visit_parameters([&](const char* name, auto& parameter) {
    const std::string found = difference_from_slopes(parameter.value, parameter.gradient, value, 1e-6, 1e-5);
    if (found != "") text += std::string(name) + ": " + found;
  });
  return text;
}

}  // namespace tenon_test
