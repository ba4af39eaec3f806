// tests/expr/operations/arithmetic.cpp: a table of the family.
// Results must be the correctly rounded ones, so comparison is exact.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/arithmetic.hpp>

#include <algorithm>

#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::bfloat16;
using tenon::half;
using tenon_test::binary_difference;
using tenon_test::infinity;
using tenon_test::nan_value;
using tenon_test::numbers_of;
using tenon_test::unary_difference;

const std::vector<double> ordinary = {0, 1, -1, 0.5, -2.5, 3, 7, -100, 1e-3, 12345};
const std::vector<double> special = {0, -0.0, 1, -1.5, nan_value, infinity, -infinity};
const std::vector<double> whole = {0, 1, -1, 2, -3, 7, -8, 11};

double least(double x, double y) { return std::isnan(x) || std::isnan(y) ? nan_value : std::min(x, y); }
double most(double x, double y) { return std::isnan(x) || std::isnan(y) ? nan_value : std::max(x, y); }

/// Every operation of the family on one type of element.
template <class T, class Space>
void check_arithmetic(const std::vector<double>& x) {
  const auto binary = [&](const auto& operation, const auto& reference) {
    CHECK(binary_difference<T, Space>(operation, reference, x) == "");
  };
  const auto unary = [&](const auto& operation, const auto& reference) {
    CHECK(unary_difference<T, Space>(operation, reference, x, 0) == "");
  };
  binary(tenon::add, [](double a, double b) { return a + b; });
  binary(tenon::subtract, [](double a, double b) { return a - b; });
  binary(tenon::multiply, [](double a, double b) { return a * b; });
  binary(tenon::minimum, least);
  binary(tenon::maximum, most);
  binary([](const auto& a, const auto& b) { return a + b; }, [](double a, double b) { return a + b; });
  binary([](const auto& a, const auto& b) { return a - b; }, [](double a, double b) { return a - b; });
  binary([](const auto& a, const auto& b) { return a * b; }, [](double a, double b) { return a * b; });
  unary(tenon::negate, [](double a) { return -a; });
  unary([](const auto& a) { return -a; }, [](double a) { return -a; });
  unary(tenon::abs, [](double a) { return std::fabs(a); });
  unary(tenon::square, [](double a) { return a * a; });
  unary([](const auto& a) { return tenon::clamp(a, -2, 5); }, [](double a) { return least(most(a, -2), 5); });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("arithmetic of floating types is correctly rounded", "[arithmetic]", tenon_test::spaces) {
  check_arithmetic<float, TestType>(ordinary);
  check_arithmetic<double, TestType>(ordinary);
  check_arithmetic<half, TestType>({0, 1, -1, 0.5, -2.5, 3, 7, -100, 30000});
  check_arithmetic<bfloat16, TestType>({0, 1, -1, 0.5, -2.5, 3, 7, -96});
  const auto divide = [](double a, double b) { return a / b; };
  CHECK(binary_difference<float, TestType>(tenon::divide, divide, ordinary) == "");
  CHECK(binary_difference<double, TestType>(tenon::divide, divide, ordinary) == "");
  CHECK(binary_difference<half, TestType>([](const auto& a, const auto& b) { return a / b; }, divide,
                                          {0, 1, -2, 3, 40}) == "");
}

TEMPLATE_LIST_TEST_CASE("NaN and infinities go through", "[arithmetic]", tenon_test::spaces) {
  check_arithmetic<float, TestType>(special);
  check_arithmetic<double, TestType>(special);
  check_arithmetic<half, TestType>(special);
}

TEMPLATE_LIST_TEST_CASE("arithmetic of integers", "[arithmetic]", tenon_test::spaces) {
  check_arithmetic<std::int8_t, TestType>({0, 1, -1, 2, -3, 7, -8});
  check_arithmetic<std::int16_t, TestType>(whole);
  check_arithmetic<std::int32_t, TestType>(whole);
  check_arithmetic<std::int64_t, TestType>(whole);
}

TEMPLATE_LIST_TEST_CASE("integers divide towards zero, unsigned ones wrap", "[arithmetic]", tenon_test::spaces) {
  const auto quotient = [](double a, double b) { return std::trunc(a / b); };
  CHECK(binary_difference<std::int32_t, TestType>(tenon::divide, quotient, {1, -1, 2, -3, 7, -8}) == "");
  CHECK(binary_difference<std::uint8_t, TestType>(tenon::divide, quotient, {1, 2, 3, 255}) == "");
  const auto x = tenon_test::tensor_of<TestType, std::uint8_t>(tenon::rank<1>(3), {0, 100, 255});
  CHECK(numbers_of(x + x) == std::vector<double>{0, 200, 254});
  CHECK(numbers_of(x - x - std::uint8_t{1}) == std::vector<double>{255, 255, 255});
  CHECK(numbers_of(tenon::abs(x)) == std::vector<double>{0, 100, 255});
}

namespace {

/// x / 0 and lowest / -1, among quotients that are none of these, at a length with a rest.
template <class T, class Space>
void check_refused_quotients() {
  INFO(tenon::dtype_name<T>());
  const T lowest = std::numeric_limits<T>::lowest(), highest = std::numeric_limits<T>::max();
  const std::vector<T> over = {7, 0, lowest, highest, lowest, highest, 9}, under = {0, 0, 0, 0, T(-1), T(-1), 2};
  const std::vector<T> expected = {0, 0, 0, 0, std::is_signed_v<T> ? lowest : T(0), T(highest / T(-1)), 4};
  tenon::tensor<T, tenon::rank<1>> x({70}), y({70});
  for (tenon::index i = 0; i < 70; ++i) {
    x(i) = over[static_cast<std::size_t>(i % 7)];
    y(i) = under[static_cast<std::size_t>(i % 7)];
  }
  const auto found = tenon_test::elements_of(x.template to<Space>() / y.template to<Space>());
  for (std::size_t i = 0; i < 70; ++i) CHECK(found[i] == expected[i % 7]);
  CHECK(tenon_test::elements_of(x.template to<Space>() / T(0)) == std::vector<T>(70, T(0)));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("integers divided by 0 give 0, the lowest by -1 itself", "[arithmetic]", tenon_test::spaces) {
  check_refused_quotients<std::int8_t, TestType>(), check_refused_quotients<std::uint8_t, TestType>();
  check_refused_quotients<std::int16_t, TestType>(), check_refused_quotients<std::uint16_t, TestType>();
  check_refused_quotients<std::int32_t, TestType>(), check_refused_quotients<std::uint32_t, TestType>();
  check_refused_quotients<std::int64_t, TestType>(), check_refused_quotients<std::uint64_t, TestType>();
}

TEMPLATE_LIST_TEST_CASE("numbers stand on either side", "[arithmetic]", tenon_test::spaces) {
  const auto x = tenon_test::counting<float, TestType>(tenon::rank<1>(3), 1);
  CHECK(numbers_of(10 - x) == std::vector<double>{9, 8, 7});
  CHECK(numbers_of(6.0 / x) == std::vector<double>{6, 3, 2});
  CHECK(numbers_of(x - 0.5f) == std::vector<double>{0.5, 1.5, 2.5});
  CHECK(numbers_of(true * x) == std::vector<double>{1, 2, 3});
}

TEMPLATE_LIST_TEST_CASE("mixed element types compute in the promoted one", "[arithmetic]", tenon_test::spaces) {
  const auto i = tenon_test::tensor_of<TestType, std::int32_t>(tenon::rank<1>(2), {16777217, -3});
  const auto d = tenon_test::tensor_of<TestType, double>(tenon::rank<1>(2), {0.5, 0.25});
  const auto b = tenon_test::tensor_of<TestType, std::int8_t>(tenon::rank<1>(2), {100, -100});
  const auto u = tenon_test::tensor_of<TestType, std::uint8_t>(tenon::rank<1>(2), {200, 200});
  CHECK(numbers_of(i + d) == std::vector<double>{16777217.5, -2.75});
  CHECK(numbers_of(b + u) == std::vector<double>{300, 100});
  const auto h = tenon_test::tensor_of<TestType, half>(tenon::rank<1>(2), {half(2048.0f), half(1.0f)});
  CHECK(numbers_of(h + 1.0 - 2048) == std::vector<double>{1, -2046});  // one rounding, at the end
}

TEMPLATE_LIST_TEST_CASE("integers wrap around and divide at their edges", "[arithmetic]", tenon_test::spaces) {
  const auto x = tenon_test::tensor_of<TestType, std::int32_t>(tenon::rank<1>(3), {-2147483647 - 1, 2147483647, 0});
  CHECK(numbers_of(x / -1) == std::vector<double>{-2147483648.0, -2147483647, 0});
  CHECK(numbers_of(x / 0) == std::vector<double>{0, 0, 0});
  CHECK(numbers_of(-x) == std::vector<double>{-2147483648.0, -2147483647, 0});
  CHECK(numbers_of(tenon::abs(x)) == std::vector<double>{-2147483648.0, 2147483647, 0});
  CHECK(numbers_of(x + x) == std::vector<double>{0, -2, 0});
  CHECK(numbers_of(x - 1) == std::vector<double>{2147483647, 2147483646, -1});
  CHECK(numbers_of(tenon::square(x)) == std::vector<double>{0, 1, 0});
  CHECK(numbers_of(tenon::fma(x, 2, 1)) == std::vector<double>{1, -1, 1});
  const auto y = tenon_test::tensor_of<TestType, std::uint16_t>(tenon::rank<1>(2), {65535, 255});
  CHECK(numbers_of(y * y) == std::vector<double>{1, 65025});
}

TEMPLATE_LIST_TEST_CASE("fma rounds once", "[arithmetic]", tenon_test::spaces) {
  const auto x = tenon_test::repeated<float, TestType>({1 + 0x1p-23, 3, infinity, nan_value}, 37);
  const auto found = numbers_of(tenon::fma(x, x, -1.0f - 0x1p-22f));
  CHECK(found[0] == 0x1p-46);
  CHECK(found[36] == 0x1p-46);
  CHECK(found[1] == static_cast<double>(8.0f - 0x1p-22f));
  CHECK(found[2] == infinity);
  CHECK(std::isnan(found[3]));
  const auto y = tenon_test::tensor_of<TestType, half>(tenon::rank<1>(1), {half(2048.0f)});
  CHECK(numbers_of(tenon::fma(y, y, -y)) == std::vector<double>{infinity});
}

TEMPLATE_LIST_TEST_CASE("fmin and fmax pass over NaN", "[arithmetic]", tenon_test::spaces) {
  const auto lesser = [](double x, double y) { return std::fmin(x, y); };
  const auto greater = [](double x, double y) { return std::fmax(x, y); };
  CHECK(binary_difference<float, TestType>(tenon::fmin, lesser, special) == "");
  CHECK(binary_difference<float, TestType>(tenon::fmax, greater, special) == "");
  CHECK(binary_difference<half, TestType>(tenon::fmax, greater, special) == "");
  CHECK(binary_difference<std::int8_t, TestType>(tenon::fmin, lesser, whole) == "");
}

TEMPLATE_LIST_TEST_CASE("sign and copysign", "[arithmetic]", tenon_test::spaces) {
  const auto sign_of = [](double x) { return std::isnan(x) ? x : x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; };
  CHECK(unary_difference<float, TestType>(tenon::sign, sign_of, special, 0) == "");
  CHECK(unary_difference<double, TestType>(tenon::sign, sign_of, special, 0) == "");
  CHECK(unary_difference<half, TestType>(tenon::sign, sign_of, special, 0) == "");
  CHECK(unary_difference<std::int8_t, TestType>(tenon::sign, sign_of, {0, 5, -128}, 0) == "");
  CHECK(unary_difference<std::uint8_t, TestType>(tenon::sign, sign_of, {0, 5, 255}, 0) == "");
  const auto copied = [](double x, double y) { return std::copysign(x, y); };
  CHECK(binary_difference<float, TestType>(tenon::copysign, copied, special) == "");
  CHECK(binary_difference<double, TestType>(tenon::copysign, copied, special) == "");
  const auto x = tenon_test::tensor_of<TestType, int>(tenon::rank<1>(2), {3, -4});
  CHECK(numbers_of(1 / tenon::copysign(0.0f, x)) == std::vector<double>{infinity, -infinity});
}

TEMPLATE_LIST_TEST_CASE("lerp meets both ends exactly", "[arithmetic]", tenon_test::spaces) {
  const auto x = tenon_test::repeated<float, TestType>({1, 1e8, 0.1, -3}, 37);
  const auto y = tenon_test::repeated<float, TestType>({2, 0.3, 1e8}, 37);
  CHECK(numbers_of(tenon::lerp(x, y, 0)) == numbers_of(x));
  CHECK(numbers_of(tenon::lerp(x, y, 1)) == numbers_of(y));
  CHECK(numbers_of(tenon::lerp(tenon_test::counting<float, TestType>(tenon::rank<1>(3)), 10, 0.25)) ==
        std::vector<double>{2.5, 3.25, 4});
}
