// tests/expr/operations/bitwise.cpp: a table of the family.
// The reference works on 64-bit integers; shifts beyond the width have a stated result.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/bitwise.hpp>

#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/spaces.hpp"

namespace {

using tenon_test::binary_difference;
using tenon_test::numbers_of;
using tenon_test::unary_difference;
using numbers = std::vector<double>;

std::int64_t to_integer(double x) { return static_cast<std::int64_t>(x); }

template <class T, class Space>
void check_bitwise(const numbers& x) {
  const auto both = [](double a, double b) { return static_cast<double>(to_integer(a) & to_integer(b)); };
  const auto either = [](double a, double b) { return static_cast<double>(to_integer(a) | to_integer(b)); };
  const auto one = [](double a, double b) { return static_cast<double>(to_integer(a) ^ to_integer(b)); };
  const auto opposite = [](double a) { return static_cast<double>(static_cast<T>(~to_integer(a))); };
  CHECK(binary_difference<T, Space>(tenon::bitwise_and, both, x) == "");
  CHECK(binary_difference<T, Space>(tenon::bitwise_or, either, x) == "");
  CHECK(binary_difference<T, Space>(tenon::bitwise_xor, one, x) == "");
  CHECK(binary_difference<T, Space>([](const auto& a, const auto& b) { return a & b; }, both, x) == "");
  CHECK(binary_difference<T, Space>([](const auto& a, const auto& b) { return a | b; }, either, x) == "");
  CHECK(binary_difference<T, Space>([](const auto& a, const auto& b) { return a ^ b; }, one, x) == "");
  if constexpr (!std::is_same_v<T, bool>) {
    CHECK(unary_difference<T, Space>(tenon::bitwise_not, opposite, x, 0) == "");
    CHECK(unary_difference<T, Space>([](const auto& a) { return ~a; }, opposite, x, 0) == "");
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("bits of integers and of bool", "[bitwise]", tenon_test::spaces) {
  check_bitwise<std::int8_t, TestType>({0, 1, -1, 5, -128, 127, 85});
  check_bitwise<std::uint8_t, TestType>({0, 1, 5, 128, 255, 85});
  check_bitwise<std::int32_t, TestType>({0, 1, -1, 1 << 30, -77});
  check_bitwise<std::uint32_t, TestType>({0, 1, 4294967295.0, 1 << 30});
  check_bitwise<std::int64_t, TestType>({0, 1, -1, 0x1p52, -77});
  check_bitwise<bool, TestType>({0, 1});
}

TEMPLATE_LIST_TEST_CASE("the opposite of bool is bool", "[bitwise]", tenon_test::spaces) {
  const auto x = tenon_test::repeated<float, TestType>({1, 0, 3}, 37);
  CHECK(numbers_of(tenon::sum(~(x > 0))) == numbers{12});
  CHECK(numbers_of(tenon::sum(~tenon_test::repeated<bool, TestType>({1, 0}, 37))) == numbers{18});
}

TEMPLATE_LIST_TEST_CASE("shifts, within the width and beyond", "[bitwise]", tenon_test::spaces) {
  const auto x = tenon_test::repeated<std::int32_t, TestType>({1, -5, 1073741824, -1}, 36);
  const auto first = [](const auto& operand) {
    auto values = numbers_of(operand);
    values.resize(4);
    return values;
  };
  CHECK(first(x << 3) == numbers{8, -40, 0, -8});
  CHECK(first(x >> 1) == numbers{0, -3, 536870912, -1});
  CHECK(first(x << 32) == numbers{0, 0, 0, 0});
  CHECK(first(x << -1) == numbers{0, 0, 0, 0});
  CHECK(first(x >> 99) == numbers{0, -1, 0, -1});
  CHECK(first(x >> -1) == numbers{0, -1, 0, -1});
  const auto y = tenon_test::repeated<std::uint8_t, TestType>({200, 1, 255, 0}, 36);
  CHECK(first(tenon::left_shift(y, 1)) == numbers{144, 2, 254, 0});
  CHECK(first(tenon::right_shift(y, 7)) == numbers{1, 0, 1, 0});
  CHECK(first(y >> 8) == numbers{0, 0, 0, 0});
  CHECK(first(1 << (y & 7)) == numbers{1, 2, 128, 1});
}

TEST_CASE("bits keep the promoted type", "[bitwise]") {
  const auto x = tenon_test::counting<std::int8_t>(tenon::rank<1>(3));
  const auto y = tenon_test::counting<std::uint8_t>(tenon::rank<1>(3));
  STATIC_REQUIRE(std::is_same_v<decltype(x & y)::element, std::int16_t>);
  STATIC_REQUIRE(std::is_same_v<decltype(x ^ 1)::element, std::int8_t>);
  STATIC_REQUIRE(std::is_same_v<decltype((x > 0) | (y > 1))::element, bool>);
  STATIC_REQUIRE(std::is_same_v<decltype((x > 0) | y)::element, std::uint8_t>);
}
