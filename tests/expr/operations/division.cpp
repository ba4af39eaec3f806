// tests/expr/operations/division.cpp: a table of the family.
// Quotients and what they leave belong together: x = floor_divide(x, y) * y + remainder(x, y).
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/division.hpp>

#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/spaces.hpp"

namespace {

using tenon_test::binary_difference;
using tenon_test::infinity;
using tenon_test::nan_value;
using tenon_test::numbers_of;

const std::vector<double> integers = {0, 1, -1, 2, -3, 7, -8, 11, -13, 100, -128, 127};

double floored_of(double x, double y) { return y == 0 ? 0 : std::floor(x / y); }
double left_of(double x, double y) { return y == 0 ? 0 : x - y * std::floor(x / y); }
double signed_left_of(double x, double y) { return y == 0 ? 0 : std::fmod(x, y); }
double float_left_of(double x, double y) {
  const double left = std::fmod(x, y);
  return left != 0 && (left < 0) != (y < 0) ? left + y : left;
}

template <class T, class Space>
void check_integers(const std::vector<double>& x) {
  CHECK(binary_difference<T, Space>(tenon::fmod, signed_left_of, x) == "");
  CHECK(binary_difference<T, Space>(tenon::remainder, left_of, x) == "");
  CHECK(binary_difference<T, Space>(tenon::floor_divide, floored_of, x) == "");
  CHECK(binary_difference<T, Space>([](const auto& a, const auto& b) { return a % b; }, left_of, x) == "");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("integers round down and leave what has the divisor's sign", "[division]", tenon_test::spaces) {
  check_integers<std::int8_t, TestType>({0, 1, -1, 2, -3, 7, -8, 11, -13, 100, 127});
  check_integers<std::int16_t, TestType>(integers);
  check_integers<std::int32_t, TestType>(integers);
  check_integers<std::int64_t, TestType>(integers);
  check_integers<std::uint8_t, TestType>({0, 1, 2, 3, 7, 11, 100, 255});
  check_integers<std::uint64_t, TestType>({0, 1, 2, 3, 7, 11, 100, 255});
}

TEMPLATE_LIST_TEST_CASE("the lowest integer", "[division]", tenon_test::spaces) {
  const std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  const auto x = tenon_test::tensor_of<TestType, std::int64_t>(tenon::rank<1>(3), {lowest, lowest, lowest});
  const auto y = tenon_test::tensor_of<TestType, std::int64_t>(tenon::rank<1>(3), {-1, 7, 0});
  CHECK(tenon_test::elements_of(tenon::floor_divide(x, y)) == std::vector<std::int64_t>{lowest, lowest / 7 - 1, 0});
  CHECK(tenon_test::elements_of(x % y) == std::vector<std::int64_t>{0, lowest % 7 + 7, 0});
  CHECK(tenon_test::elements_of(tenon::fmod(x, y)) == std::vector<std::int64_t>{0, lowest % 7, 0});
}

TEMPLATE_LIST_TEST_CASE("floats leave exact remainders", "[division]", tenon_test::spaces) {
  const std::vector<double> x = {1, -1, 0.5, -2.5, 3, 7, -100, 0.001, 12345, 1e20, infinity, -infinity, nan_value};
  CHECK(binary_difference<double, TestType>(tenon::fmod, [](double a, double b) { return std::fmod(a, b); }, x) == "");
  CHECK(binary_difference<float, TestType>(tenon::fmod, [](double a, double b) { return std::fmod(a, b); }, x) == "");
  CHECK(binary_difference<double, TestType>(tenon::remainder, float_left_of, x) == "");
  CHECK(binary_difference<tenon::half, TestType>(tenon::remainder, float_left_of, {1, -1, 0.5, -2.5, 3, 7}) == "");
}

TEMPLATE_LIST_TEST_CASE("quotients of floats are rounded down", "[division]", tenon_test::spaces) {
  const auto below = [](double a, double b) { return std::floor(a / b); };
  CHECK(binary_difference<double, TestType>(tenon::floor_divide, below, {1, -1, 0.5, -2.5, 3, 7, -100, 12345}) == "");
  CHECK(binary_difference<float, TestType>(tenon::floor_divide, below, {1, -1, 0.5, -2.5, 3, 7, -100}) == "");
  const auto x = tenon_test::tensor_of<TestType, double>(tenon::rank<1>(6), {1, 1, -1, 0, 5, -5});
  const auto y = tenon_test::tensor_of<TestType, double>(tenon::rank<1>(6), {0.1, 0, 0, 0, infinity, infinity});
  const auto found = numbers_of(tenon::floor_divide(x, y));  // as NumPy: 0.1 is a little more than a tenth
  CHECK(found[0] == 9);
  CHECK(found[1] == infinity);
  CHECK(found[2] == -infinity);
  CHECK(std::isnan(found[3]));
  CHECK(found[4] == 0);
  CHECK(found[5] == -1);
  CHECK(std::isnan(numbers_of(x % y)[1]));
}

TEMPLATE_LIST_TEST_CASE("zeros keep the sign that Python gives", "[division]", tenon_test::spaces) {
  const auto x = tenon_test::tensor_of<TestType, float>(tenon::rank<1>(4), {6, -6, 6, -6});
  const auto y = tenon_test::tensor_of<TestType, float>(tenon::rank<1>(4), {3, 3, -3, -3});
  CHECK(numbers_of(1 / (x % y)) == std::vector<double>{infinity, infinity, -infinity, -infinity});
  CHECK(numbers_of(1 / tenon::floor_divide(x * 0, y)) == std::vector<double>{infinity, -infinity, -infinity, infinity});
}
