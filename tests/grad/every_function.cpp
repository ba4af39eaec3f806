// tests/grad/derivatives.cpp: the derivative of every pointwise operation.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#include <tenon/grad/gradient.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"

namespace {

using tenon::rank;
using tenon_test::drawn;

/// Whether a derivative agrees with a central difference, up to one and both in one statement.
template <class Derivative, class Above, class Below>
bool is_slope(const Derivative& derivative, const Above& above, const Below& below) {
  const auto expected = (above - below) / 2e-6;
  const tenon::tensor<double, rank<1>> difference((derivative - expected) / (1 + tenon::abs(expected)));
  for (const double each : tenon_test::elements_of(difference)) {
    if (!(std::fabs(each) < 1e-6)) return false;
  }
  return true;
}

/// Whether the derivative of an operation of one operand agrees with its differences in [low, high).
template <class Operation>
bool agrees(const Operation& operation, float low = -2, float high = 2) {
  const auto x = drawn(rank<1>(23), 5, low, high);
  const auto v = tenon::variable<0>(x);
  const auto [dx] = tenon::vjp(operation(v), tenon::constants(tenon::shape<>{}, 1.0), tenon::wrt(v));
  return is_slope(dx, operation(x + 1e-6), operation(x - 1e-6));
}
template <class Operation>
bool both_agree(const Operation& operation, float low = -2, float high = 2) {
  const auto x = drawn(rank<1>(23), 6, low, high), y = drawn(rank<1>(23), 7, low, high);
  const auto v = tenon::variable<0>(x);
  const auto w = tenon::variable<1>(y);
  const auto [dx, dy] = tenon::vjp(operation(v, w), tenon::constants(tenon::shape<>{}, 1.0), tenon::wrt(v, w));
  return is_slope(dx, operation(x + 1e-6, y), operation(x - 1e-6, y)) &&
         is_slope(dy, operation(x, y + 1e-6), operation(x, y - 1e-6));
}

}  // namespace

TEST_CASE("derivatives of arithmetic", "[derivatives]") {
  CHECK(agrees(tenon::negate));
  CHECK(agrees(tenon::abs));
  CHECK(agrees(tenon::square));
  CHECK(both_agree(tenon::add));
  CHECK(both_agree(tenon::subtract));
  CHECK(both_agree(tenon::multiply));
  CHECK(both_agree(tenon::divide, 0.5f, 2));
  CHECK(both_agree(tenon::minimum));
  CHECK(both_agree(tenon::maximum));
  CHECK(both_agree(tenon::fmin));
  CHECK(both_agree(tenon::fmax));
  CHECK(both_agree([](const auto& x, const auto& y) { return tenon::copysign(x, tenon::stop_gradient(y)) + y; }));
  CHECK(agrees([](const auto& x) { return tenon::clamp(x, -1, 0.5); }));
  CHECK(both_agree([](const auto& x, const auto& y) { return tenon::fma(x, y, x); }));
  CHECK(both_agree([](const auto& x, const auto& y) { return tenon::lerp(x, y, x * y); }));
  CHECK(both_agree(tenon::fmod, 1, 2));
  CHECK(both_agree(tenon::remainder, 1, 2));
}

TEST_CASE("derivatives of exponentials and powers", "[derivatives]") {
  CHECK(agrees(tenon::exp));
  CHECK(agrees(tenon::exp2));
  CHECK(agrees(tenon::expm1));
  CHECK(agrees(tenon::log, 0.5f, 3));
  CHECK(agrees(tenon::log2, 0.5f, 3));
  CHECK(agrees(tenon::log10, 0.5f, 3));
  CHECK(agrees(tenon::log1p, -0.5f, 3));
  CHECK(agrees(tenon::sqrt, 0.5f, 3));
  CHECK(agrees(tenon::rsqrt, 0.5f, 3));
  CHECK(agrees(tenon::cbrt, 0.5f, 3));
  CHECK(agrees(tenon::reciprocal, 0.5f, 3));
  CHECK(both_agree(tenon::pow, 0.5f, 3));
  CHECK(agrees([](const auto& x) { return tenon::pow(x, 3); }));
  CHECK(both_agree(tenon::hypot, 0.5f, 3));
}

TEST_CASE("derivatives of trigonometric, hyperbolic and special functions", "[derivatives]") {
  CHECK(agrees(tenon::sin));
  CHECK(agrees(tenon::cos));
  CHECK(agrees(tenon::tan, -1, 1));
  CHECK(agrees(tenon::asin, -0.9f, 0.9f));
  CHECK(agrees(tenon::acos, -0.9f, 0.9f));
  CHECK(agrees(tenon::atan));
  CHECK(both_agree(tenon::atan2, 0.5f, 2));
  CHECK(agrees(tenon::sinh));
  CHECK(agrees(tenon::cosh));
  CHECK(agrees(tenon::tanh));
  CHECK(agrees(tenon::asinh));
  CHECK(agrees(tenon::acosh, 1.5f, 3));
  CHECK(agrees(tenon::atanh, -0.9f, 0.9f));
  CHECK(agrees(tenon::erf));
  CHECK(agrees(tenon::erfc));
  CHECK(agrees(tenon::gamma, 0.5f, 3));
  CHECK(agrees(tenon::lgamma, 0.5f, 3));
  CHECK(agrees(tenon::digamma, 0.5f, 3));
}

TEST_CASE("derivatives of activations", "[derivatives]") {
  CHECK(agrees(tenon::relu));
  CHECK(agrees(tenon::relu6, -9, 9));
  CHECK(agrees([](const auto& x) { return tenon::soft_cap(x, 0.7); }));
  CHECK(agrees([](const auto& x) { return tenon::soft_cap(x, 0); }));
  CHECK(agrees(tenon::leaky_relu));
  CHECK(both_agree(tenon::leaky_relu));
  CHECK(agrees([](const auto& x) { return tenon::threshold(x, 0.3, 0.7); }));
  CHECK(agrees(tenon::elu));
  CHECK(agrees(tenon::celu));
  CHECK(both_agree([](const auto& x, const auto& y) { return tenon::elu(x, tenon::abs(y)); }));
  CHECK(both_agree([](const auto& x, const auto& y) { return tenon::celu(x, 1 + tenon::abs(y)); }));
  CHECK(agrees(tenon::selu));
  CHECK(agrees(tenon::sigmoid));
  CHECK(agrees(tenon::log_sigmoid));
  CHECK(agrees(tenon::silu));
  CHECK(agrees(tenon::gelu));
  CHECK(agrees(tenon::gelu_tanh));
  CHECK(agrees(tenon::softplus));
  CHECK(agrees([](const auto& x) { return tenon::softplus(x, 2.0, 3.0); }));
  CHECK(agrees(tenon::mish));
  CHECK(agrees(tenon::softsign));
  CHECK(agrees(tenon::hard_sigmoid, -5, 5));
  CHECK(agrees(tenon::hard_swish, -5, 5));
  CHECK(agrees(tenon::hard_tanh));
  CHECK(agrees(tenon::hard_shrink));
  CHECK(agrees(tenon::soft_shrink));
  CHECK(agrees(tenon::tanh_shrink));
}

TEST_CASE("whole numbers and truth values have no derivative", "[derivatives]") {
  CHECK(agrees([](const auto& x) { return tenon::floor(x) * x + tenon::round(x) + tenon::frac(x); }));
  CHECK(agrees([](const auto& x) { return tenon::where(x > 0, x, 2 * x); }));
}
