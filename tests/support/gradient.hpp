// tests/support/gradient.hpp: gradients against central differences in double precision.
// The function under test is called with variables for its gradient and with tensors for the differences.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/grad/gradient.hpp>

#include "support/elements.hpp"

namespace tenon_test {

/// Weights that make a number of a result, so that every element of it counts differently.
template <class Shape>
auto weights_of(const Shape& extents) {
  return tenon::uniform<double>(extents, 77, 0.5f, 1.5f);
}

/// The greatest difference between `gradient` and that of `value()` by central differences in the elements of `x`.
template <class Tensor, class Gradient, class Value>
std::string difference_from_slopes(Tensor& x, const Gradient& gradient, const Value& value, double step,
                                   double tolerance) {
  const auto found = numbers_of(gradient);
  if (found.size() != static_cast<std::size_t>(x.size())) return "other count";
  for (std::size_t i = 0; i < found.size(); ++i) {
    double& element = x.data()[i];
    const double middle = element;
    element = middle + step;
    const double above = value();
    element = middle - step;
    const double below = value();
    element = middle;
    const double expected = (above - below) / (2 * step);
    if (!(std::fabs(found[i] - expected) <= tolerance * (1 + std::fabs(expected)))) {
      return tenon::compose_text("at ", i, ": ", found[i], ", expected ", expected);
    }
  }
  return "";
}

namespace detail {

template <int Which, class Function, class... Tensors, int... I>
std::string gradient_difference(const Function& function, double step, double tolerance,
                                std::integer_sequence<int, I...>, Tensors&... tensors) {
  const auto value = [&] {
    const auto result = function(tenon::as_node(tensors)...);
    return static_cast<double>(tenon::sum(result * weights_of(result.shape())));
  };
  auto all = tenon::make_tuple_of(&tensors...);
  const auto variables = tenon::make_tuple_of(tenon::variable<I>(tensors)...);
  const auto result = tenon::apply_tuple(function, variables);
  const auto gradients =
      tenon::vjp(result, tenon::as_node(weights_of(result.shape())), tenon::wrt(tenon::get<Which>(variables)));
  return difference_from_slopes(*tenon::get<Which>(all), tenon::get<0>(gradients), value, step, tolerance);
}

}  // namespace detail

/// Empty when the gradients of `function`, in each of the tensors of double, agree with central differences.
template <class Function, class... Tensors>
std::string gradient_difference(const Function& function, Tensors&... tensors) {
  constexpr int count = static_cast<int>(sizeof...(Tensors));
  std::string text;
  tenon::for_each_index<count>([&](auto which) {
    const auto found = detail::gradient_difference<which.value>(function, 1e-6, 1e-6,
                                                                std::make_integer_sequence<int, count>{}, tensors...);
    if (found != "") text += tenon::compose_text("operand ", int{which.value}, ": ", found, "; ");
  });
  return text;
}

/// A tensor of doubles drawn uniformly from [low, high).
template <class Shape>
auto drawn(const Shape& extents, std::uint64_t seed, float low = -2, float high = 2) {
  return tenon::tensor<double, Shape>(tenon::uniform<double>(extents, seed, low, high));
}

/// The same of a view of 4 x 6 numbers, squared so that every element has a gradient of its own.
template <class View>
std::string view_difference(const View& view) {
  auto x = drawn(tenon::rank<2>(4, 6), 3);
  return gradient_difference([&](const auto& v) { return view(v) * view(v); }, x);
}

}  // namespace tenon_test
