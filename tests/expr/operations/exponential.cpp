// tests/expr/operations/exponential.cpp: a table of the family.
// References are the C library's in double; special values follow IEEE 754.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/exponential.hpp>

#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/spaces.hpp"

namespace {

using tenon_test::infinity;
using tenon_test::nan_value;
using tenon_test::unary_difference;

double exp_of(double x) { return std::exp(x); }
double log_of(double x) { return std::log(x); }
double sqrt_of(double x) { return std::sqrt(x); }
double rsqrt_of(double x) { return 1 / std::sqrt(x); }

std::vector<double> between(double low, double high, int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(low + (high - low) * i / (count - 1));
  return values;
}

std::vector<double> powers(double low, double high, int count) {
  auto values = between(std::log2(low), std::log2(high), count);
  for (double& each : values) each = std::exp2(each);
  return values;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("float results are within a few units", "[exponential]", tenon_test::spaces) {
  CHECK(unary_difference<float, TestType>(tenon::exp, exp_of, between(-87, 88, 401), 4) == "");
  CHECK(unary_difference<float, TestType>(tenon::log, log_of, powers(1e-37, 3e38, 401), 4) == "");
  CHECK(unary_difference<float, TestType>(tenon::log, log_of, between(0.5, 2, 401), 4) == "");
  CHECK(unary_difference<float, TestType>(tenon::sqrt, sqrt_of, powers(1e-37, 3e38, 201), 0) == "");
  CHECK(unary_difference<float, TestType>(tenon::rsqrt, rsqrt_of, powers(1e-37, 3e38, 201), 2) == "");
}

TEMPLATE_LIST_TEST_CASE("double results are within a few units", "[exponential]", tenon_test::spaces) {
  CHECK(unary_difference<double, TestType>(tenon::exp, exp_of, between(-700, 709, 401), 4) == "");
  CHECK(unary_difference<double, TestType>(tenon::log, log_of, powers(1e-300, 1e300, 401), 4) == "");
  CHECK(unary_difference<double, TestType>(tenon::sqrt, sqrt_of, powers(1e-300, 1e300, 201), 0) == "");
  CHECK(unary_difference<double, TestType>(tenon::rsqrt, rsqrt_of, powers(1e-300, 1e300, 201), 2) == "");
}

TEMPLATE_LIST_TEST_CASE("16-bit results are rounded once", "[exponential]", tenon_test::spaces) {
  CHECK(unary_difference<tenon::half, TestType>(tenon::exp, exp_of, between(-9, 11, 101), 1) == "");
  CHECK(unary_difference<tenon::half, TestType>(tenon::log, log_of, powers(1e-4, 6e4, 101), 1) == "");
  CHECK(unary_difference<tenon::bfloat16, TestType>(tenon::sqrt, sqrt_of, powers(1e-30, 1e30, 101), 1) == "");
}

TEMPLATE_LIST_TEST_CASE("special values", "[exponential]", tenon_test::spaces) {
  const std::vector<double> values = {0, -0.0, 1, -1, infinity, -infinity, nan_value, 200, -200};
  CHECK(unary_difference<float, TestType>(tenon::exp, exp_of, values, 4) == "");
  CHECK(unary_difference<float, TestType>(tenon::log, log_of, values, 4) == "");
  CHECK(unary_difference<float, TestType>(tenon::sqrt, sqrt_of, values, 1) == "");
  CHECK(unary_difference<float, TestType>(tenon::rsqrt, rsqrt_of, values, 2) == "");
  CHECK(unary_difference<double, TestType>(tenon::exp, exp_of, values, 4) == "");
  CHECK(unary_difference<double, TestType>(tenon::log, log_of, values, 4) == "");
}

TEMPLATE_LIST_TEST_CASE("subnormal operands and results", "[exponential]", tenon_test::spaces) {
  CHECK(unary_difference<float, TestType>(tenon::log, log_of, {1e-40, 1e-42, 1.5e-45}, 4) == "");
  CHECK(unary_difference<float, TestType>(tenon::exp, exp_of, {-88, -90, -95, -100, -103}, 4) == "");
}

TEST_CASE("integers and bool give float", "[exponential]") {
  const auto x = tenon_test::counting<int>(tenon::rank<1>(3));
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::exp(x))::element, float>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::sqrt(x > 1))::element, float>);
  CHECK(tenon_test::numbers_of(tenon::sqrt(x * x)) == std::vector<double>{0, 1, 2});
}
