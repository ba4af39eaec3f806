// tests/expr/operations/exponential.cpp: a table of the family.
// References are the C library's in double; special values follow IEEE 754.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/exponential.hpp>

#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"

namespace {

using tenon_test::binary_difference;
using tenon_test::infinity;
using tenon_test::nan_value;
using tenon_test::numbers_of;
using tenon_test::unary_difference;

double exp_of(double x) { return std::exp(x); }
double log_of(double x) { return std::log(x); }
double sqrt_of(double x) { return std::sqrt(x); }
double rsqrt_of(double x) { return 1 / std::sqrt(x); }
double pow_of(double x, double y) { return std::pow(x, y); }
double logaddexp_of(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return nan_value;
  return x == y ? x + std::log(2.0) : std::fmax(x, y) + std::log1p(std::exp(-std::fabs(x - y)));
}
double hypot_of(double x, double y) { return std::hypot(x, y); }

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

/// Up to 400 numbers of both signs and all magnitudes of T, zeros, subnormals, infinities and NaN.
template <class T>
std::vector<double> everything() {
  constexpr int least = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits,
                greatest = std::numeric_limits<T>::max_exponent, step = (greatest - least) / 380 + 1;
  tenon_test::random_source source(31);
  std::vector<double> values = {0, -0.0, 1, -1, 2, -2, 0.5, infinity, -infinity, nan_value};
  for (int exponent = least; exponent < greatest; exponent += step) {
    values.push_back(std::ldexp(source.uniform(-1.99, 1.99), exponent));
  }
  return values;
}

/// The powers and logarithms whose range is that of T, over all of it and where they pass through zero.
template <class T, class Space>
void check_everywhere() {
  const auto check = [](const auto& operation, double (*reference)(double)) {
    CHECK(unary_difference<T, Space>(operation, reference, everything<T>(), 2) == "");
    CHECK(unary_difference<T, Space>(operation, reference, between(-1.5, 1.5, 203), 2) == "");
  };
  check(tenon::exp2, [](double x) { return std::exp2(x); });
  check(tenon::expm1, [](double x) { return std::expm1(x); });
  check(tenon::log2, [](double x) { return std::log2(x); });
  check(tenon::log10, [](double x) { return std::log10(x); });
  check(tenon::log1p, [](double x) { return std::log1p(x); });
  check(tenon::cbrt, [](double x) { return std::cbrt(x); });
  check(tenon::reciprocal, [](double x) { return 1 / x; });
}

/// x to the power y by repeated multiplication modulo 2^64.
template <class T>
T repeated_product(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y < 0) return static_cast<T>(x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0);
  }
  std::uint64_t product = 1;
  for (T i = 0; i < y; ++i) product *= static_cast<std::uint64_t>(x);
  return static_cast<T>(product);
}

template <class T, class Space>
void check_whole_powers(const std::vector<T>& x) {
  const auto n = static_cast<tenon::index>(x.size());
  const auto column = tenon_test::tensor_of<Space, T>(tenon::rank<2>(n, 1), x);
  const auto row = tenon_test::tensor_of<Space, T>(tenon::rank<1>(n), x);
  std::vector<T> expected;
  for (const T base : x)
    for (const T power : x) expected.push_back(repeated_product(base, power));
  CHECK(tenon_test::elements_of(tenon::pow(column, row)) == expected);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("float results are within a few units", "[exponential]", tenon_test::spaces) {
  CHECK(unary_difference<float, TestType>(tenon::exp, exp_of, between(-87, 88, 401), 4) == "");
  CHECK(unary_difference<float, TestType>(tenon::log, log_of, powers(1e-37, 3e38, 401), 4) == "");
  CHECK(unary_difference<float, TestType>(tenon::log, log_of, between(0.5, 2, 401), 4) == "");
  CHECK(unary_difference<float, TestType>(tenon::sqrt, sqrt_of, powers(1e-37, 3e38, 201), 0) == "");
  CHECK(unary_difference<float, TestType>(tenon::rsqrt, rsqrt_of, powers(1e-37, 3e38, 201), 2) == "");
  check_everywhere<float, TestType>();
}

TEMPLATE_LIST_TEST_CASE("double results are within a few units", "[exponential]", tenon_test::spaces) {
  CHECK(unary_difference<double, TestType>(tenon::exp, exp_of, between(-700, 709, 401), 4) == "");
  CHECK(unary_difference<double, TestType>(tenon::log, log_of, powers(1e-300, 1e300, 401), 4) == "");
  CHECK(unary_difference<double, TestType>(tenon::sqrt, sqrt_of, powers(1e-300, 1e300, 201), 0) == "");
  CHECK(unary_difference<double, TestType>(tenon::rsqrt, rsqrt_of, powers(1e-300, 1e300, 201), 2) == "");
  check_everywhere<double, TestType>();
}

TEMPLATE_LIST_TEST_CASE("16-bit results are rounded once", "[exponential]", tenon_test::spaces) {
  CHECK(unary_difference<tenon::half, TestType>(tenon::exp, exp_of, between(-9, 11, 101), 1) == "");
  CHECK(unary_difference<tenon::half, TestType>(tenon::log, log_of, powers(1e-4, 6e4, 101), 1) == "");
  CHECK(unary_difference<tenon::bfloat16, TestType>(tenon::sqrt, sqrt_of, powers(1e-30, 1e30, 101), 1) == "");
  CHECK(unary_difference<tenon::half, TestType>(
            tenon::log1p, [](double x) { return std::log1p(x); }, between(-0.9, 9, 101), 1) == "");
  CHECK(binary_difference<tenon::half, TestType>(tenon::pow, pow_of, {0, 1, 2, 0.5, -3, 2.5}, 1) == "");
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

TEMPLATE_LIST_TEST_CASE("odd functions keep the sign of zero", "[exponential]", tenon_test::spaces) {
  CHECK(tenon_test::keeps_sign_of_zero<float, TestType>(tenon::expm1));
  CHECK(tenon_test::keeps_sign_of_zero<float, TestType>(tenon::log1p));
  CHECK(tenon_test::keeps_sign_of_zero<float, TestType>(tenon::cbrt));
  CHECK(tenon_test::keeps_sign_of_zero<float, TestType>(tenon::sqrt));
}

TEMPLATE_LIST_TEST_CASE("powers and hypotenuses of floats", "[exponential]", tenon_test::spaces) {
  const std::vector<double> x = {0,   -0.0, 1,    -1,    2,       -2,       0.5,       -0.5,      3,
                                 2.5, -7,   1e20, 1e-20, 1.0001f, infinity, -infinity, nan_value, 1e-40};
  CHECK(binary_difference<float, TestType>(tenon::pow, pow_of, x, 1) == "");
  CHECK(binary_difference<double, TestType>(tenon::pow, pow_of, x, 1) == "");
  CHECK(binary_difference<float, TestType>(tenon::hypot, hypot_of, x, 1) == "");
  CHECK(binary_difference<double, TestType>(tenon::hypot, hypot_of, {1e200, 3e200, -4e-200, 0, infinity, nan_value},
                                            1) == "");
}

TEMPLATE_LIST_TEST_CASE("logarithms of sums of exponentials", "[exponential]", tenon_test::spaces) {
  const std::vector<double> x = {0, -0.0, 1, -1, 2, -3, 88.5, 710, -745, 1e20, -1e30, infinity, -infinity, nan_value};
  CHECK(binary_difference<float, TestType>(tenon::logaddexp, logaddexp_of, x, 3) == "");
  CHECK(binary_difference<double, TestType>(tenon::logaddexp, logaddexp_of, x, 3) == "");
}

TEMPLATE_LIST_TEST_CASE("powers of integers stay integers and wrap around", "[exponential]", tenon_test::spaces) {
  check_whole_powers<std::int32_t, TestType>({0, 1, -1, 2, -2, 3, -3, 7, 10, 31, 32, 33, 46341, -65536});
  check_whole_powers<std::int8_t, TestType>({0, 1, -1, 2, -2, 3, 7, 8, 100, 127, -128});
  check_whole_powers<std::uint8_t, TestType>({0, 1, 2, 3, 7, 8, 16, 255});
  const auto x = tenon_test::tensor_of<TestType, int>(tenon::rank<1>(3), {2, -3, 10});
  STATIC_REQUIRE(std::is_same_v<typename decltype(tenon::pow(x, 2))::element, int>);
  CHECK(numbers_of(tenon::pow(x, 3)) == std::vector<double>{8, -27, 1000});
  CHECK(numbers_of(tenon::pow(2, x)) == std::vector<double>{4, 0, 1024});
  CHECK(numbers_of(tenon::pow(x, 0.0)) == std::vector<double>{1, 1, 1});
}

TEST_CASE("integers and bool give float", "[exponential]") {
  const auto x = tenon_test::counting<int>(tenon::rank<1>(3));
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::exp(x))::element, float>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::sqrt(x > 1))::element, float>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::reciprocal(x))::element, float>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::hypot(x, x))::element, float>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::logaddexp(x, x))::element, float>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::pow(x, 0.5))::element, float>);
  CHECK(numbers_of(tenon::sqrt(x * x)) == std::vector<double>{0, 1, 2});
  CHECK(numbers_of(tenon::reciprocal(x + 1)) == std::vector<double>{1, 0.5, static_cast<double>(1.0f / 3)});
}
