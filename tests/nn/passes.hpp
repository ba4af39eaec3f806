// tests/nn/passes.hpp: a layer's backward pass against central differences of its forward pass, in double.
// Outputs are weighted at random, so that each counts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/per_axis.hpp>
#include <tenon/nn/sequential.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/random.hpp"

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

/// The same of the parameters of a layer that keeps what it needs in a pass, for inputs of three or four axes.
template <class Shape, class Layer>
std::string pass_difference(const Shape& extents, Layer layer) {
  auto net = tenon::nn::sequential(std::move(layer));
  net.initialise(3);
  tenon::nn::pass<decltype(net), Shape, tenon::host, double> pass(net);
  const auto x = drawn(extents, 8);
  const auto y = tenon::evaluated_tensor(pass.forward(x.view()));
  const tenon::tensor<double, typename decltype(y)::shape_type> seed(weights_of(y.shape()));
  pass.backward(x.view(), seed);
  const auto value = [&] { return static_cast<double>(tenon::sum(pass.forward(x.view()) * seed)); };
  std::string text;
  net.visit_parameters([&](const std::string& name, auto& parameter) {
    const std::string found = difference_from_slopes(parameter.value, parameter.gradient, value, 1e-6, 1e-5);
    if (found != "") text += name + ": " + found;
  });
  return text;
}

/// Draws what a layer is made with.
class drawn_options {
 public:
  explicit drawn_options(std::uint64_t seed) : source_(seed) {}

  tenon::index between(tenon::index low, tenon::index high) { return low + source_.below(high - low + 1); }
  template <int Rank>
  tenon::nn::per_axis<Rank> axes_between(tenon::index low, tenon::index high) {
    tenon::nn::per_axis<Rank> result(low);
    for (tenon::index& each : result.values) each = between(low, high);
    return result;
  }
  bool flag() { return source_.below(2) == 1; }

 private:
  random_source source_;
};

/// What `difference(draw)` finds in three draws.
template <class Difference>
std::string in_draws(const Difference& difference) {
  std::string text;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    drawn_options draw(seed);
    text += difference(draw);
  }
  return text;
}

}  // namespace tenon_test
