// tests/support/gradient.hpp: gradients against central differences in double precision, of numbers that are drawn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/grad/gradcheck.hpp>

#include "support/elements.hpp"

namespace tenon_test {

/// Weights that make a number of a result, so that every element of it counts differently.
template <class Shape>
auto weights_of(const Shape& extents) {
  return tenon::detail::result_weights(extents);
}

/// `tenon::difference_from_slopes` with these options.
template <class Tensor, class Gradient, class Value>
std::string difference_from_slopes(Tensor& x, const Gradient& gradient, const Value& value, double step,
                                   double tolerance) {
  return tenon::difference_from_slopes(x, gradient, value, {step, tolerance});
}

/// Empty when the gradients of `function`, in each of the tensors of double, agree with central differences.
template <class Function, class... Tensors>
std::string gradient_difference(const Function& function, Tensors&... tensors) {
  return tenon::gradcheck(function, tensors...);
}

/// A tensor of doubles drawn uniformly from [low, high).
template <class Shape>
auto drawn(const Shape& extents, std::uint64_t seed, float low = -2, float high = 2) {
  return tenon::tensor<double, Shape>(tenon::uniform<double>(extents, seed, low, high));
}

/// Empty when the second derivatives of `function` at `x`, along the gradient of a result whose elements all count,
/// agree with central differences of first ones.
template <class Function, class Tensor>
std::string second_difference(const Function& function, Tensor& x, double tolerance = 1e-6) {
  const auto v = tenon::variable<0>(x);
  const auto result = function(v);
  const auto weights = weights_of(result.shape());
  const auto [first] = tenon::vjp(result, weights, tenon::wrt(v));
  const auto along = weights_of(x.shape());
  const auto [second] = tenon::vjp(first, along, tenon::wrt(v));
  return difference_from_slopes(x, second, [&] { return tenon::detail::weighted_sum(first, along); }, 1e-6, tolerance);
}

/// How many nodes an expression has.
template <class Node>
constexpr int nodes_in() {
  return []<class... Operands>(std::type_identity<tenon::tuple<Operands...>>) {
    return (1 + ... + nodes_in<Operands>());
  }(std::type_identity<tenon::operands_of<Node>>{});
}

/// As `gradient_difference`, of a view of 4 x 6 numbers, squared so that every element has a gradient of its own.
template <class View>
std::string view_difference(const View& view) {
  auto x = drawn(tenon::rank<2>(4, 6), 3);
  return gradient_difference([&](const auto& v) { return tenon::square(view(v)); }, x);
}

}  // namespace tenon_test
