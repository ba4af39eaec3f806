// tenon/nn/inference_inputs.hpp: what a network in use is given: its inputs, and who calls its products.
// An input is said by its extents, or by a tensor like those to come.
// Floor 7: may include base, core, device, expr, plan, algorithms, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/call.hpp>
#include <tenon/nn/state.hpp>
#include <tuple>

namespace tenon::nn {

/// Convolutions and linear layers as they are.
struct plain_products {};

/// A network in use whose convolutions and linear layers are called by `Products`: with
/// `products.call(calls, walk, layer, node)`.
template <class Network, class Products>
struct network_by_products {
  Network network;
  Products products;

  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    network.visit_parameters(visitor);
  }
  void eval() {
    if constexpr (requires { network.eval(); }) network.eval();
  }
};
template <class Network, class Products>
struct parameters_of<network_by_products<Network, Products>> : parameters_of<Network> {};

namespace detail {

template <class Network>
plain_products& products_of(Network&) {
  static plain_products as_they_are;
  return as_they_are;
}
template <class Network, class Products>
Products& products_of(network_by_products<Network, Products>& net) {
  return net.products;
}
template <class Network>
Network& network_within(Network& net) {
  return net;
}
template <class Network, class Products>
Network& network_within(network_by_products<Network, Products>& net) {
  return net.network;
}

/// The view that an input is seen as. Where extents alone are given, elements are of the network's own type; else the
/// tensor's.
template <class Network, class Given>
struct input_view {
  using type = view<const typename std::remove_cvref_t<Given>::element, typename std::remove_cvref_t<Given>::shape_type,
                    typename std::remove_cvref_t<Given>::space>;
};
template <class Network, shape_type Given>
struct input_view<Network, Given> {
  using type = view<const float, Given, host>;  // of a network without parameters
};
template <class Network, shape_type Given>
  requires requires { typename parameters_of<Network>::space; }
struct input_view<Network, Given> {
  using type = view<const typename parameters_of<Network>::element, Given, typename parameters_of<Network>::space>;
};
/// Extents, given as such or by a tensor.
template <shape_type Shape>
struct given_extents {
  Shape extents;
  given_extents(const Shape& given) : extents(given) {}
  template <tensor_operand Given>
  given_extents(const Given& given) : extents(given.shape()) {}
};

/// What a network, or a layer that is no function of such values, makes of the leaves of its inputs.
template <class Network, class... Leaves>
auto called_with(Network& net, const Leaves&... leaves) {
  if constexpr (is_called_with<Network, decltype(traced(leaves))...>) return net(traced(leaves)...);
  else return call_through(traced(leaves)..., net);
}

/// What `body` makes of each value that a pass made: of one, or of those in a tuple, a pair or a layer's states.
template <class Result, class Body>
auto each_value(const Result& result, const Body& body) {
  if constexpr (is_kept_elsewhere<Result>) {
    return body(result);
  } else if constexpr (requires { std::tuple_size<Result>::value; }) {
    return std::apply([&](const auto&... each) { return std::tuple(each_value(each, body)...); }, result);
  } else if constexpr (requires { Result::count, result.hidden; }) {
    return result.each([&](const auto& each) { return each_value(each, body); });
  } else {
    return result;
  }
}

}  // namespace detail

}  // namespace tenon::nn
