// tenon/nn/explain.hpp: what a call of a network runs, with its parameters by name.
// For whole training steps, and to draw either, make a run_log and name what should have a name there.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/grad/trace_step.hpp>
#include <tenon/nn/state.hpp>
#include <tenon/run_log.hpp>

namespace tenon::nn {

/// From here on a log tells parameters and buffers of a network, and gradients, by their names.
template <has_parameters Network>
void name_state(run_log& seen, Network& net) {
  net.visit_parameters([&](const std::string& name, auto& parameter) {
    seen.name(parameter.value, name);
    seen.name(parameter.gradient, name + ".gradient");
  });
  const auto name_buffer = [&](const std::string& name, auto& buffer) {
    if constexpr (tenon::detail::is_tensor<std::remove_cvref_t<decltype(buffer)>>) seen.name(buffer, name);
  };
  if constexpr (requires { net.visit_buffers(name_buffer); }) net.visit_buffers(name_buffer);
}

namespace detail {

/// What `tell` makes of the log of a call under no_grad.
template <class Tell, class Network, class... Tensors>
std::string told_of_call(const Tell& tell, Network& net, const Tensors&... inputs) {
  run_log seen;
  name_state(seen, net);
  int number = 0;
  (seen.name(inputs, sizeof...(Tensors) == 1 ? "input" : compose_text("input ", ++number)), ...);
  const no_grad reading;
  net(inputs...);
  return tell(seen);
}

}  // namespace detail

/// Calls a network with tensors, and tells what ran: a line for each statement, with what it reads.
/// example   std::cout << nn::explain(net, x);
template <has_parameters Network, class... Tensors>
std::string explain(Network& net, const Tensors&... inputs) {
  return detail::told_of_call([](const run_log& seen) { return seen.text(); }, net, inputs...);
}
/// The same as a drawing in the language of Graphviz.
/// example   std::ofstream("net.dot") << nn::draw(net, x);  // dot -Tsvg net.dot > net.svg
template <has_parameters Network, class... Tensors>
std::string draw(Network& net, const Tensors&... inputs) {
  return detail::told_of_call([](const run_log& seen) { return seen.dot(); }, net, inputs...);
}

}  // namespace tenon::nn
