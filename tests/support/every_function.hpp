// tests/support/every_function.hpp: every pointwise function of floats that docs/operations.md names, in one table.
// Each row is one statement over views, so that what runs over the table compiles it once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expressions.hpp>
#include <vector>

namespace tenon_test {

/// A function of one to three operands, as a statement over `count` elements of each.
template <class T>
struct function_row {
  const char* name;
  int operands;
  void (*apply)(const T* const* from, T* to, tenon::index count);
};

namespace detail {

template <class T, int Operands, class Function>
function_row<T> row_of(const char* name, const Function&) {
  return {name, Operands, [](const T* const* from, T* to, tenon::index count) {
            const tenon::rank<1> extents(count);
            const tenon::view<T, tenon::rank<1>> result(to, extents);
            const auto operand = [&](int k) { return tenon::view<const T, tenon::rank<1>>(from[k], extents); };
            const Function function{};
            if constexpr (Operands == 1) result = function(operand(0));
            else if constexpr (Operands == 2) result = function(operand(0), operand(1));
            else result = function(operand(0), operand(1), operand(2));
          }};
}

}  // namespace detail

/// Functions of one operand.
template <class T>
std::vector<function_row<T>> unary_functions() {
  const auto row = [](const char* name, const auto& function) { return detail::row_of<T, 1>(name, function); };
  return {row("negate", tenon::negate),
          row("abs", tenon::abs),
          row("square", tenon::square),
          row("sign", tenon::sign),
          row("floor", tenon::floor),
          row("ceil", tenon::ceil),
          row("trunc", tenon::trunc),
          row("round", tenon::round),
          row("frac", tenon::frac),
          row("exp", tenon::exp),
          row("exp2", tenon::exp2),
          row("expm1", tenon::expm1),
          row("log", tenon::log),
          row("log2", tenon::log2),
          row("log10", tenon::log10),
          row("log1p", tenon::log1p),
          row("sqrt", tenon::sqrt),
          row("rsqrt", tenon::rsqrt),
          row("cbrt", tenon::cbrt),
          row("reciprocal", tenon::reciprocal),
          row("sin", tenon::sin),
          row("cos", tenon::cos),
          row("tan", tenon::tan),
          row("asin", tenon::asin),
          row("acos", tenon::acos),
          row("atan", tenon::atan),
          row("sinh", tenon::sinh),
          row("cosh", tenon::cosh),
          row("tanh", tenon::tanh),
          row("asinh", tenon::asinh),
          row("acosh", tenon::acosh),
          row("atanh", tenon::atanh),
          row("erf", tenon::erf),
          row("erfc", tenon::erfc),
          row("erfinv", tenon::erfinv),
          row("gamma", tenon::gamma),
          row("lgamma", tenon::lgamma),
          row("digamma", tenon::digamma),
          row("trigamma", tenon::trigamma),
          row("polygamma<2>", tenon::polygamma<2>),
          row("relu", tenon::relu),
          row("relu6", tenon::relu6),
          row("leaky_relu", tenon::leaky_relu),
          row("elu", tenon::elu),
          row("celu", tenon::celu),
          row("selu", tenon::selu),
          row("sigmoid", tenon::sigmoid),
          row("log_sigmoid", tenon::log_sigmoid),
          row("silu", tenon::silu),
          row("mish", tenon::mish),
          row("gelu", tenon::gelu),
          row("gelu_tanh", tenon::gelu_tanh),
          row("softplus", tenon::softplus),
          row("softsign", tenon::softsign),
          row("hard_sigmoid", tenon::hard_sigmoid),
          row("hard_swish", tenon::hard_swish),
          row("hard_tanh", tenon::hard_tanh),
          row("hard_shrink", tenon::hard_shrink),
          row("soft_shrink", tenon::soft_shrink),
          row("tanh_shrink", tenon::tanh_shrink)};
}

/// Functions of two operands.
template <class T>
std::vector<function_row<T>> binary_functions() {
  const auto row = [](const char* name, const auto& function) { return detail::row_of<T, 2>(name, function); };
  return {row("add", tenon::add),       row("subtract", tenon::subtract),   row("multiply", tenon::multiply),
          row("divide", tenon::divide), row("minimum", tenon::minimum),     row("maximum", tenon::maximum),
          row("fmin", tenon::fmin),     row("fmax", tenon::fmax),           row("copysign", tenon::copysign),
          row("fmod", tenon::fmod),     row("remainder", tenon::remainder), row("floor_divide", tenon::floor_divide),
          row("hypot", tenon::hypot),   row("logaddexp", tenon::logaddexp), row("pow", tenon::pow),
          row("atan2", tenon::atan2),   row("soft_cap", tenon::soft_cap)};
}

/// Functions of three operands.
template <class T>
std::vector<function_row<T>> ternary_functions() {
  const auto row = [](const char* name, const auto& function) { return detail::row_of<T, 3>(name, function); };
  return {row("fma", tenon::fma), row("lerp", tenon::lerp), row("clamp", tenon::clamp),
          row("threshold", tenon::threshold)};
}

}  // namespace tenon_test
