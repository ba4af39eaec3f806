// expect: tenon: variable<0>(x) is for expressions without layers; call networks with v = variable(x)
// expect: tenon: variable<0>(x) is for expressions without layers; call layers with v = variable(x)
// expect: tenon: variable<0>(x) is for expressions that are not traced; trace those of v = variable(x)
// tests/compile_fail/numbered_in_layer.cpp: numbered variables in networks, layers and traced values.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/module.hpp>

#include <tenon/grad/value_and_gradient.hpp>
#include <tenon/nn/linear.hpp>

namespace nn = tenon::nn;

struct network : nn::module<network> {
  nn::linear<2, 3> hidden;
  auto forward(const auto& x) { return tenon::tanh(hidden(x)); }
};

void calls(network& net, const tenon::tensor<float, tenon::rank<2>>& x) {
  const auto v = tenon::variable<0>(x);
#ifdef MISUSE
  const auto made = net(v);
  const auto [value, dx] = tenon::value_and_gradient([&](const auto& u) { return tenon::sum(net(u)); }, x);
  const auto h = net.hidden(v);
  const auto [du] = tenon::gradient(tenon::sum(tenon::matmul(v, tenon::transpose(net.hidden.weight))), tenon::wrt(v));
  const tenon::traced penalty = tenon::mean(tenon::square(du - 1));
#else
  const auto [value, dx] = tenon::value_and_gradient([&](const auto& u) { return tenon::sum(tenon::tanh(u)); }, x);
  const auto u = tenon::variable(x);
  const auto h = net.hidden(u);
  const tenon::traced penalty = tenon::mean(tenon::square(net(u) - 1));
#endif
}
