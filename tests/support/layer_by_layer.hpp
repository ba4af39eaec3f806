// tests/support/layer_by_layer.hpp: what a network makes of an input, a statement or more for each of its layers.
// It is made of the layers' `forward` alone: calls of a network compile its gradients, too.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/combinators.hpp>
#include <tenon/nn/sequential.hpp>

namespace tenon_test {

template <class X, class First, class... Rest>
auto layer_by_layer(const X& x, First& first, Rest&... rest);

template <class X, class Layer>
auto made_by(const X& x, Layer& layer) {
  if constexpr (requires { layer.prepare(x.view()); }) layer.prepare(x.view());
  return layer.forward(x.view());
}
template <class X, class... Layers>
auto made_by(const X& x, tenon::nn::sequential_network<Layers...>& network) {
  return tenon::apply_tuple([&](Layers&... layers) { return layer_by_layer(x, layers...); }, network.layers);
}
template <class X, class... Layers>
auto made_by(const X& x, tenon::nn::residual_block<Layers...>& block) {
  return x + tenon::apply_tuple([&](Layers&... layers) { return layer_by_layer(x, layers...); }, block.layers);
}
template <class X, class... Branches>
auto made_by(const X& x, tenon::nn::branching_layer<Branches...>& layer) {
  return tenon::apply_tuple(
      [&](Branches&... branches) { return tenon::concatenate(tenon::axis<1>, layer_by_layer(x, branches)...); },
      layer.layers);
}

/// What the layers make of a tensor, one after another.
template <class X, class First, class... Rest>
auto layer_by_layer(const X& x, First& first, Rest&... rest) {
  auto made = tenon::evaluated_tensor(made_by(x, first));
  if constexpr (sizeof...(Rest) == 0) return made;
  else return layer_by_layer(made, rest...);
}

}  // namespace tenon_test
