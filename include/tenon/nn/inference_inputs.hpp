// tenon/nn/inference_inputs.hpp: how inputs of a network in use are given, and what its results are made of.
// An input is said by its extents, or by a tensor like those to come.
// Floor 7: may include base, core, device, expr, plan, algorithms, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/call.hpp>
#include <tenon/nn/state.hpp>
#include <tuple>

namespace tenon::nn {

namespace detail {

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
