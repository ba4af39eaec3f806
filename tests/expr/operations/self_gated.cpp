// tests/expr/operations/self_gated.cpp: a table of the family, and its derivatives where powers are infinite.
// References are PyTorch's formulas in double; none may overflow on the way or lose small values.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/self_gated.hpp>

#include <tenon/expressions.hpp>

#include "support/activation_inputs.hpp"
#include "support/catch.hpp"
#include "support/spaces.hpp"

namespace {

using tenon_test::absolute_difference;
using tenon_test::everywhere;
using tenon_test::numbers_of;
using tenon_test::unary_difference;

double exact_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu_of(double x) { return 0.5 * x * (1 + std::erf(x * M_SQRT1_2)); }
double gelu_tanh_of(double x) { return x * exact_sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)); }

template <class T, class Space>
void check_self_gated() {
  CHECK(unary_difference<T, Space>(tenon::silu, [](double x) { return x * exact_sigmoid(x); }, everywhere, 4) == "");
  CHECK(unary_difference<T, Space>(
            tenon::mish, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }, everywhere, 6) == "");
  const double unit = 8 * tenon_test::spacing<T>;
  CHECK(absolute_difference<T, Space>(tenon::gelu, gelu_of, unit) == "");
  CHECK(absolute_difference<T, Space>(tenon::gelu_tanh, gelu_tanh_of, unit) == "");
}

/// Operands whose share has fewer digits than its product with them, as far down as that is normal.
template <class T>
std::vector<double> operands_of_vanishing_shares() {
  const double least = std::is_same_v<T, float> ? -91.8 : -714.9, step = std::is_same_v<T, float> ? 0.0625 : 0.25;
  std::vector<double> x;
  for (double each = least; each < -60; each += step) x.push_back(static_cast<double>(static_cast<T>(each)));
  return x;
}

/// How far `found` is from factor(x) * exp(x), in units of the result's last place.
template <class T, class Factor>
double units_from_power(const std::vector<double>& found, const std::vector<double>& x, const Factor& factor) {
  long double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double expected = factor(x[i]) * std::exp(static_cast<long double>(x[i]));
    most = std::fmax(most, std::fabs(static_cast<long double>(found[i]) / expected - 1));
  }
  return static_cast<double>(most / std::numeric_limits<T>::epsilon());
}

template <class T, class Space>
void check_vanishing_shares() {
  const auto numbers = operands_of_vanishing_shares<T>();
  tenon::tensor<T, tenon::rank<1>> on_host({static_cast<tenon::index>(numbers.size())});
  for (std::size_t i = 0; i < numbers.size(); ++i) on_host(static_cast<tenon::index>(i)) = static_cast<T>(numbers[i]);
  const tenon::tensor<T, tenon::rank<1>, Space> x = on_host.template to<Space>();
  const auto itself = [](double each) { return static_cast<long double>(each); };
  const auto slope = [](double each) { return 1 + static_cast<long double>(each); };
  const auto node = tenon::as_node(x);
  CHECK(units_from_power<T>(numbers_of(tenon::silu(x)), numbers, itself) < 3);
  CHECK(units_from_power<T>(numbers_of(tenon::mish(x)), numbers, itself) < 6);
  CHECK(units_from_power<T>(numbers_of(tenon::silu_op::gradient(tenon::of_operand<0>{}, T(1), x, node)), numbers,
                            slope) < 6);
  CHECK(units_from_power<T>(numbers_of(tenon::mish_op::gradient(tenon::of_operand<0>{}, T(1), x, node)), numbers,
                            slope) < 6);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("silu and mish have all digits where exponentials are subnormal", "[self_gated]",
                        tenon_test::spaces) {
  check_vanishing_shares<float, TestType>();
  check_vanishing_shares<double, TestType>();
}

TEMPLATE_LIST_TEST_CASE("self-gated activations of float, double and half", "[self_gated]", tenon_test::spaces) {
  check_self_gated<float, TestType>();
  check_self_gated<double, TestType>();
  const std::vector<double> x = {0, 1, -1, 0.25, -0.75, 3, 8, 11};
  CHECK(unary_difference<tenon::half, TestType>(tenon::gelu, gelu_of, x, 1) == "");
}

TEMPLATE_LIST_TEST_CASE("the slope of gelu_tanh is 0 or 1 where powers would be infinite", "[self_gated]",
                        tenon_test::spaces) {
  const auto x = tenon_test::repeated<float, TestType>({-1e38, -1e14, -31, 31, 1e14, 1e38}, 6);
  const auto slopes = numbers_of(tenon::gelu_tanh_op::gradient(tenon::of_operand<0>{}, 1.0f, x, tenon::as_node(x)));
  for (std::size_t i = 0; i < slopes.size(); ++i) CHECK(slopes[i] == (numbers_of(x)[i] > 0 ? 1 : 0));
}

TEMPLATE_LIST_TEST_CASE("curves of activations vanish where powers would be infinite", "[self_gated]",
                        tenon_test::spaces) {
  const auto x = tenon_test::repeated<float, TestType>({-1e30, -1e9, 1e9, 1e30}, 4);
  CHECK(numbers_of(tenon::gelu_tanh_op::curve(tenon::as_node(x))) == std::vector<double>(4, 0.0));
  for (const double each : numbers_of(tenon::mish_op::curve(tenon::as_node(x)))) CHECK(std::fabs(each) < 1e-6);
}
