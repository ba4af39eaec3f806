// tenon/grad/gradcheck.hpp: gradients against differences, for rules of one's own.
// The function is called with variables, for its gradients and for the differences, all in double.
// Floor 6: may include base, core, expr, evaluate, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <tenon/evaluate.hpp>
#include <tenon/expr/random.hpp>
#include <tenon/grad/gradient.hpp>

namespace tenon {

/// How far elements are moved to either side, and by how much a gradient may differ, relative to 1 + its magnitude.
struct gradcheck_options {
  double step = 1e-6, tolerance = 1e-6;
};

/// Compares `gradient` with central differences of `value()`, a double, in the elements of `x`. Returns the first
/// difference as a text; an empty one where they agree.
template <class Tensor, class Gradient, class Value>
std::string difference_from_slopes(Tensor& x, const Gradient& gradient, const Value& value,
                                   const gradcheck_options& options = {}) {
  const auto found = evaluated_tensor(as_node(gradient));
  if (found.size() != x.size()) {
    return compose_text("extents ", found.shape().to_array(), ", expected ", x.shape().to_array());
  }
  for (index i = 0; i < x.size(); ++i) {
    double& element = x.data()[i];
    const double middle = element, own = found.data()[i];
    element = middle + options.step;
    const double above = value();
    element = middle - options.step;
    const double below = value();
    element = middle;
    const double expected = (above - below) / (2 * options.step);
    if (!(std::fabs(own - expected) <= options.tolerance * (1 + std::fabs(expected)))) {
      return compose_text("at ", i, ": ", own, ", expected ", expected);
    }
  }
  return "";
}

namespace detail {

/// Weights that make a number of a result, so that every element of it counts differently.
template <class Shape>
tensor<double, Shape> result_weights(const Shape& extents) {
  return uniform<double>(extents, 77, 0.5f, 1.5f);
}
/// That number. The loop is the same for all results of a shape, where a reduction would be compiled for each.
template <class Result, class Shape>
double weighted_sum(const Result& result, const tensor<double, Shape>& weights) {
  const tensor<double, Shape> values = result;
  double sum = 0;
  for (index i = 0; i < values.size(); ++i) sum += values.data()[i] * weights.data()[i];
  return sum;
}

/// Values are those of variables, too: what the function returns may read results of `qr` that it names, which are
/// expressions of variables and would be tensors of its own of tensors.
template <int Which, class Function, class... Tensors, int... I>
std::string check_gradient(const Function& function, const gradcheck_options& options, std::integer_sequence<int, I...>,
                           Tensors&... tensors) {
  const auto named = make_tuple_of(tenon::variable<I>(tensors)...);
  const auto result = apply_tuple(function, named);
  const auto weights = result_weights(result.shape());
  const auto value = [&] { return weighted_sum(apply_tuple(function, named), weights); };
  const auto gradients = vjp(result, weights, wrt(get<Which>(named)));
  return difference_from_slopes(*get<Which>(make_tuple_of(&tensors...)), get<0>(gradients), value, options);
}

}  // namespace detail

/// Empty when the gradients of `function(tensors...)`, in each of the tensors of double on the host, agree with central
/// differences; else the operands and elements that do not. The function takes expressions and returns one. Elements
/// are moved and put back.
/// cost      two values for each element
/// source    torch.autograd.gradcheck
/// example   CHECK(gradcheck([](const auto& v) { return map(cube{}, v); }, x) == "");
template <class Function, class... Tensors>
std::string gradcheck(const Function& function, const gradcheck_options& options, Tensors&... tensors) {
  constexpr int count = static_cast<int>(sizeof...(Tensors));
  std::string text;
  for_each_index<count>([&](auto which) {
    const auto found =
        detail::check_gradient<which.value>(function, options, std::make_integer_sequence<int, count>{}, tensors...);
    if (!found.empty()) text += compose_text("operand ", int{which.value}, ": ", found, "; ");
  });
  return text;
}
template <class Function, tensor_operand... Tensors>
std::string gradcheck(const Function& function, Tensors&... tensors) {
  return gradcheck(function, gradcheck_options{}, tensors...);
}

}  // namespace tenon
