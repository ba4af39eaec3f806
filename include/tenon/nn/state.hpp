// tenon/nn/state.hpp: all that a network has learnt, by name: parameters and buffers.
// Names are PyTorch's: those of layers with dots between, as in its state_dict.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tenon/nn/module.hpp>
#include <vector>

namespace tenon::nn {

/// Calls `visitor(name, value)` for every parameter's tensor, then for every buffer: a tensor, or a number on the host
/// such as a count of batches.
template <class Network, class Visitor>
void visit_state(Network& net, Visitor&& visitor) {
  net.visit_parameters([&](const std::string& name, auto& parameter) { visitor(name, parameter.value); });
  const auto visit_buffer = [&](const std::string& name, auto& buffer) { visitor(name, buffer); };
  if constexpr (requires { net.visit_buffers(visit_buffer); }) net.visit_buffers(visit_buffer);
}

/// A parameter by name, its elements and their gradient in row-major order.
template <dtype T, memory_space Space>
struct named_parameter {
  std::string name;
  std::vector<index> extents;
  view<T, rank<1>, Space> value, gradient;
};

/// Every parameter of a network of one element type in one space: a list to walk, filter and count, in the network's
/// order. It shows the network's own elements, and is good as long as the network stays where it is.
/// example   for (auto& [name, extents, value, gradient] : nn::named_parameters(net)) ...
template <memory_space Space = host, dtype T = float, class Network>
std::vector<named_parameter<T, Space>> named_parameters(Network& net) {
  std::vector<named_parameter<T, Space>> result;
  net.visit_parameters([&](const std::string& name, auto& parameter) {
    const auto extents = parameter.value.shape().to_array();
    const rank<1> flat(parameter.value.size());
    result.push_back({name,
                      std::vector<index>(extents.begin(), extents.end()),
                      {parameter.value.data(), flat},
                      {parameter.gradient.data(), flat}});
  });
  return result;
}

/// How many elements the parameters of a network have.
template <class Network>
index parameter_count(Network& net) {
  index count = 0;
  net.visit_parameters([&](const std::string&, auto& parameter) { count += parameter.value.size(); });
  return count;
}

}  // namespace tenon::nn
