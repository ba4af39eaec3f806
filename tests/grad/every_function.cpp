// tests/grad/every_function.cpp: the derivative of every pointwise function, against central differences in double.
// Those of arrays are in tests/grad/every_array_function.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <tenon/expressions.hpp>
#include <tenon/grad/gradient.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/gradient_rows.hpp"

namespace {

using tenon::rank;
using tenon_test::check_rows;
using tenon_test::drawn;

/// x cubed, with its derivative.
struct cube {
  double operator()(double x) const { return x * x * x; }
  static auto gradient(tenon::of_operand<0>, const auto& g, const auto&, const auto& x) { return g * (3 * x * x); }
};

using numbers = tenon::tensor<double, rank<1>>;

/// Empty when a derivative agrees with a central difference up to one and both.
std::string slope_difference(const numbers& derivative, const numbers& above, const numbers& below) {
  for (tenon::index i = 0; i < derivative.size(); ++i) {
    const double expected = (above(i) - below(i)) / 2e-6;
    if (!(std::fabs(derivative(i) - expected) / (1 + std::fabs(expected)) < 1e-6)) {
      return "a derivative that is no slope; ";
    }
  }
  return "";
}

/// The elements of an expression that reads `x`, where those of `x` are moved.
template <class Result>
numbers moved_by(double step, numbers& x, const Result& result) {
  x = x + step;
  const numbers values = result;
  x = x - step;
  return values;
}

/// Of the derivative of an operation of one operand, in [low, high).
template <class Operation>
std::string of_one(const Operation& operation, float low = -2, float high = 2) {
  numbers x = drawn(rank<1>(23), 5, low, high);
  const auto v = tenon::variable<0>(x);
  const auto y = operation(v);
  const auto [dx] = tenon::vjp(y, tenon::constants(y.shape(), 1.0), tenon::wrt(v));
  return slope_difference(dx, moved_by(1e-6, x, y), moved_by(-1e-6, x, y));
}
template <class Operation>
std::string of_both(const Operation& operation, float low = -2, float high = 2) {
  numbers x = drawn(rank<1>(23), 6, low, high), y = drawn(rank<1>(23), 7, low, high);
  const auto v = tenon::variable<0>(x);
  const auto w = tenon::variable<1>(y);
  const auto z = operation(v, w);
  const auto [dx, dy] = tenon::vjp(z, tenon::constants(z.shape(), 1.0), tenon::wrt(v, w));
  return slope_difference(dx, moved_by(1e-6, x, z), moved_by(-1e-6, x, z)) +
         slope_difference(dy, moved_by(1e-6, y, z), moved_by(-1e-6, y, z));
}

}  // namespace

TEST_CASE("derivatives of arithmetic", "[every_function]") {
  check_rows({
      {"negate", of_one(tenon::negate)},
      {"abs", of_one(tenon::abs)},
      {"square", of_one(tenon::square)},
      {"add", of_both(tenon::add)},
      {"subtract", of_both(tenon::subtract)},
      {"multiply", of_both(tenon::multiply)},
      {"divide", of_both(tenon::divide, 0.5f, 2)},
      {"minimum", of_both(tenon::minimum)},
      {"maximum", of_both(tenon::maximum)},
      {"fmin", of_both(tenon::fmin)},
      {"fmax", of_both(tenon::fmax)},
      {"copysign",
       of_both([](const auto& x, const auto& y) { return tenon::copysign(x, tenon::stop_gradient(y)) + y; })},
      {"clamp", of_one([](const auto& x) { return tenon::clamp(x, -1, 0.5); })},
      {"fma", of_both([](const auto& x, const auto& y) { return tenon::fma(x, y, x); })},
      {"lerp", of_both([](const auto& x, const auto& y) { return tenon::lerp(x, y, x * y); })},
      {"fmod", of_both(tenon::fmod, 1, 2)},
      {"remainder", of_both(tenon::remainder, 1, 2)},
  });
}

TEST_CASE("derivatives of exponentials and powers", "[every_function]") {
  check_rows({
      {"exp", of_one(tenon::exp)},
      {"exp2", of_one(tenon::exp2)},
      {"expm1", of_one(tenon::expm1)},
      {"log", of_one(tenon::log, 0.5f, 3)},
      {"log2", of_one(tenon::log2, 0.5f, 3)},
      {"log10", of_one(tenon::log10, 0.5f, 3)},
      {"log1p", of_one(tenon::log1p, -0.5f, 3)},
      {"sqrt", of_one(tenon::sqrt, 0.5f, 3)},
      {"rsqrt", of_one(tenon::rsqrt, 0.5f, 3)},
      {"cbrt", of_one(tenon::cbrt, 0.5f, 3)},
      {"reciprocal", of_one(tenon::reciprocal, 0.5f, 3)},
      {"pow", of_both(tenon::pow, 0.5f, 3)},
      {"pow", of_one([](const auto& x) { return tenon::pow(x, 3); })},
      {"hypot", of_both(tenon::hypot, 0.5f, 3)},
      {"logaddexp", of_both(tenon::logaddexp, -3, 3)},
  });
}

TEST_CASE("derivatives of trigonometric, hyperbolic and special functions", "[every_function]") {
  check_rows({
      {"sin", of_one(tenon::sin)},
      {"cos", of_one(tenon::cos)},
      {"tan", of_one(tenon::tan, -1, 1)},
      {"asin", of_one(tenon::asin, -0.9f, 0.9f)},
      {"acos", of_one(tenon::acos, -0.9f, 0.9f)},
      {"atan", of_one(tenon::atan)},
      {"atan2", of_both(tenon::atan2, 0.5f, 2)},
      {"sinh", of_one(tenon::sinh)},
      {"cosh", of_one(tenon::cosh)},
      {"tanh", of_one(tenon::tanh)},
      {"asinh", of_one(tenon::asinh)},
      {"acosh", of_one(tenon::acosh, 1.5f, 3)},
      {"atanh", of_one(tenon::atanh, -0.9f, 0.9f)},
      {"erf", of_one(tenon::erf)},
      {"erfc", of_one(tenon::erfc)},
      {"erfinv", of_one(tenon::erfinv, -0.9f, 0.9f)},
      {"gamma", of_one(tenon::gamma, 0.5f, 3)},
      {"lgamma", of_one(tenon::lgamma, 0.5f, 3)},
      {"digamma", of_one(tenon::digamma, 0.5f, 3)},
      {"trigamma", of_one(tenon::trigamma, 0.5f, 3)},
      {"polygamma", of_one(tenon::polygamma<4>, -0.9f, -0.2f)},
  });
}

TEST_CASE("derivatives of activations", "[every_function]") {
  check_rows({
      {"relu", of_one(tenon::relu)},
      {"relu6", of_one(tenon::relu6, -9, 9)},
      {"soft_cap", of_one([](const auto& x) { return tenon::soft_cap(x, 0.7); })},
      {"soft_cap", of_one([](const auto& x) { return tenon::soft_cap(x, 0); })},
      {"leaky_relu", of_one(tenon::leaky_relu)},
      {"leaky_relu", of_both(tenon::leaky_relu)},
      {"threshold", of_one([](const auto& x) { return tenon::threshold(x, 0.3, 0.7); })},
      {"elu", of_one(tenon::elu)},
      {"celu", of_one(tenon::celu)},
      {"elu", of_both([](const auto& x, const auto& y) { return tenon::elu(x, tenon::abs(y)); })},
      {"celu", of_both([](const auto& x, const auto& y) { return tenon::celu(x, 1 + tenon::abs(y)); })},
      {"selu", of_one(tenon::selu)},
      {"sigmoid", of_one(tenon::sigmoid)},
      {"log_sigmoid", of_one(tenon::log_sigmoid)},
      {"silu", of_one(tenon::silu)},
      {"gelu", of_one(tenon::gelu)},
      {"gelu_tanh", of_one(tenon::gelu_tanh)},
      {"softplus", of_one(tenon::softplus)},
      {"softplus", of_one([](const auto& x) { return tenon::softplus(x, 2.0, 3.0); })},
      {"mish", of_one(tenon::mish)},
      {"softsign", of_one(tenon::softsign)},
      {"hard_sigmoid", of_one(tenon::hard_sigmoid, -5, 5)},
      {"hard_swish", of_one(tenon::hard_swish, -5, 5)},
      {"hard_tanh", of_one(tenon::hard_tanh)},
      {"hard_shrink", of_one(tenon::hard_shrink)},
      {"soft_shrink", of_one(tenon::soft_shrink)},
      {"tanh_shrink", of_one(tenon::tanh_shrink)},
  });
}

TEST_CASE("the derivative of a sum of exponentials that are infinite, 0 or far apart", "[every_function]") {
  const double infinity = std::numeric_limits<double>::infinity();
  const tenon::tensor<double, rank<1>> x = {infinity, -infinity, infinity, 3, 1000},
                                       y = {infinity, -infinity, 2, 3, -9};
  const auto v = tenon::variable<0>(x);
  const auto [dx] = tenon::vjp(tenon::logaddexp(v, y), tenon::constants(x.shape(), 1.0), tenon::wrt(v));
  CHECK(tenon_test::elements_of(tenon::tensor<double, rank<1>>(dx)) == std::vector<double>{0.5, 0.5, 1, 0.5, 1});
}

TEST_CASE("a point at the origin has no angle and no length, and sends back zeros", "[every_function]") {
  const tenon::tensor<double, rank<1>> x = {0, 3, 0}, y = {0, 4, -2};
  const auto slopes = [](const auto& function, const auto& a, const auto& b) {
    const auto u = tenon::variable<0>(a);
    const auto v = tenon::variable<1>(b);
    const auto [du, dv] = tenon::vjp(function(u, v), tenon::constants(a.shape(), 1.0), tenon::wrt(u, v));
    auto found = tenon_test::elements_of(numbers(du));
    for (const double each : tenon_test::elements_of(numbers(dv))) found.push_back(each);
    return found;
  };
  CHECK(tenon_test::difference(slopes(tenon::hypot, x, y), {0, 0.6, 0, 0, 0.8, -1}, 1e-15) == "");
  CHECK(tenon_test::difference(slopes(tenon::atan2, y, x), {0, 0.12, 0, 0, -0.16, 0.5}, 1e-15) == "");
}

TEST_CASE("quantised numbers have the derivative of their range", "[every_function]") {
  const auto x = drawn(rank<1>(23), 5, -100, 100);
  const auto v = tenon::variable<0>(x);
  const auto ones = tenon::constants(x.shape(), 1.0);
  const auto [dx] = tenon::vjp(tenon::fake_quantise<std::int8_t>(v, 0.5, 3), ones, tenon::wrt(v));
  const auto range = [](const auto& moved) { return tenon::clamp(moved, -65.5, 62); };  // (-128 - 3) / 2, (127 - 3) / 2
  check_rows({
      {"fake_quantise", slope_difference(dx, range(x + 1e-6), range(x - 1e-6))},
  });
}

TEST_CASE("whole numbers and truth values have no derivative", "[every_function]") {
  check_rows({
      {"floor ceil", of_one([](const auto& x) { return tenon::floor(x) * x + tenon::ceil(x); })},
      {"trunc frac", of_one([](const auto& x) { return tenon::trunc(x) * x + tenon::frac(x); })},
      {"round rint", of_one([](const auto& x) { return tenon::round(x) * x + tenon::rint(x); })},
      {"sign", of_one([](const auto& x) { return tenon::sign(x) * x; })},
      {"floor_divide", of_both([](const auto& x, const auto& y) { return tenon::floor_divide(x, y) * x; }, 1, 2)},
  });
}

TEST_CASE("derivatives of what is chosen, converted or the user's own", "[every_function]") {
  check_rows({
      {"where", of_one([](const auto& x) { return tenon::where(x > 0, x, 2 * x); })},
      {"cast", of_one([](const auto& x) { return tenon::cast<double>(x) * x; })},
      {"map", of_one([](const auto& x) { return tenon::map(cube{}, x); })},
  });
}
