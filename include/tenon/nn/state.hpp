// tenon/nn/state.hpp: all that a network has learnt, by name: parameters and buffers.
// Names are PyTorch's: those of layers with dots between, as in its state_dict.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <tenon/nn/layer.hpp>
#include <vector>

namespace tenon::nn {

namespace detail {

/// Visits a parameter, and does nothing.
struct idle_visitor {
  template <class Name, class Parameter>
  void operator()(const Name&, Parameter&) const {}
};

}  // namespace detail

/// A layer or network whose parameters can be visited.
template <class Network>
concept has_parameters = requires(Network& net) { net.visit_parameters(detail::idle_visitor{}); };

/// Clears the gradients of all parameters: the next backward pass writes them anew. `fills` sets them to zero, too.
template <has_parameters Network>
void clear_gradients(Network& net, bool fills = true) {
  net.visit_parameters([&](const auto&, auto& parameter) {
    parameter.has_gradient = false;
    if (fills && !parameter.gradient.is_empty()) parameter.gradient = 0;
  });
}

/// Says to traced values that the parameters have other values now: those from before refuse to go back.
template <has_parameters Network>
void note_change(Network& net) {
  net.visit_parameters([](const auto&, auto& parameter) { parameter.version.add_change(); });
}

/// What expires when a network is destroyed, or moves to another place: the life of a parameter that lies within it.
/// Empty where all of them lie in lists.
template <has_parameters Network>
std::optional<std::weak_ptr<const char>> life_of(Network& net) {
  std::optional<std::weak_ptr<const char>> found;
  const auto begin = reinterpret_cast<std::uintptr_t>(&net);
  net.visit_parameters([&](const auto&, auto& parameter) {
    const auto place = reinterpret_cast<std::uintptr_t>(&parameter);
    if (!found && place >= begin && place < begin + sizeof(Network)) found = parameter.version.life();
  });
  return found;
}

/// Freezes all parameters of a layer or network, or lets them train again. Steps of optimizers leave frozen parameters
/// as they are; backward passes stop where all that is left is frozen.
/// example   nn::freeze(net.features); ... nn::freeze(net.features, false);
template <has_parameters Network>
void freeze(Network& net, bool is_frozen = true) {
  net.visit_parameters([&](const auto&, auto& parameter) {
    parameter.is_frozen = is_frozen;
    if (is_frozen) parameter.has_gradient = false;
  });
}

/// The same of a list of layers or networks.
/// example   nn::freeze(net.blocks);
template <class Networks>
  requires(!has_parameters<Networks> &&
           requires(Networks& several) {
             requires has_parameters<std::remove_cvref_t<decltype(*std::begin(several))>>;
           })
void freeze(Networks& several, bool is_frozen = true) {
  for (auto& each : several) freeze(each, is_frozen);
}

/// Where the parameters of a layer or network lie, and what their elements are: `space` and `element` of the first
/// part that has some.
template <class Part>
struct parameters_of {};
template <dtype T, shape_type Shape, memory_space Space>
struct parameters_of<parameter<T, Shape, Space>> {
  using space = Space;
  using element = T;
};
template <class Layer>
  requires requires {
    typename Layer::space;
    typename Layer::element;
  }
struct parameters_of<Layer> {
  using space = typename Layer::space;
  using element = typename Layer::element;
};
/// Space and element type of the first part that has parameters; nothing where none has any.
template <class... Parts>
struct first_parameters_of {};
template <class First, class... Rest>
struct first_parameters_of<First, Rest...> : first_parameters_of<Rest...> {};
template <class First, class... Rest>
  requires requires { typename parameters_of<First>::space; }
struct first_parameters_of<First, Rest...> : parameters_of<First> {};

/// Calls `visitor(name, value)` for every parameter's tensor, then for every buffer: a tensor, or a number on the host
/// such as a count of batches.
template <class Network, class Visitor>
void visit_state(Network& net, Visitor&& visitor) {
  net.visit_parameters([&](const std::string& name, auto& parameter) { visitor(name, parameter.value); });
  const auto visit_buffer = [&](const std::string& name, auto& buffer) { visitor(name, buffer); };
  if constexpr (requires { net.visit_buffers(visit_buffer); }) net.visit_buffers(visit_buffer);
}

/// A network whose layers go by other names, such as the attributes of a torch.nn.Module where `sequential` has
/// numbers. Saving and loading take it in place of the network.
/// example   auto named = nn::with_names(net, {{"0", "conv1"}, {"3", "fc1"}});
///           train::load_state(named, "model.safetensors");
template <class Network>
class network_with_names {
 public:
  network_with_names(Network& net, std::vector<std::pair<std::string, std::string>> names)
      : net_(net), names_(std::move(names)) {}

  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    net_.visit_parameters([&](const std::string& name, auto& parameter) { visitor(name_of(name), parameter); });
  }
  template <class Visitor>
  void visit_buffers(Visitor&& visitor)
    requires requires(Network& net) { net.visit_buffers([](const std::string&, auto&) {}); }
  {
    net_.visit_buffers([&](const std::string& name, auto& buffer) { visitor(name_of(name), buffer); });
  }

 private:
  std::string name_of(const std::string& name) const {
    for (const auto& [own, other] : names_) {
      if (name.compare(0, own.size() + 1, own + ".") == 0) return other + name.substr(own.size());
    }
    return name;
  }

  Network& net_;
  std::vector<std::pair<std::string, std::string>> names_;
};
template <class Network>
network_with_names<Network> with_names(Network& net, std::vector<std::pair<std::string, std::string>> names) {
  return {net, std::move(names)};
}

template <class Network>
struct parameters_of<network_with_names<Network>> : parameters_of<Network> {};

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

/// The number of elements of all parameters of a layer or network.
template <class Network>
index parameter_count(Network& net) {
  index count = 0;
  net.visit_parameters([&](const std::string&, auto& parameter) { count += parameter.value.size(); });
  return count;
}

}  // namespace tenon::nn
