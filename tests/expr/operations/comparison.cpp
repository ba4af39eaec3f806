// tests/expr/operations/comparison.cpp: a table of the family.
// Every pair of values, with NaN on either side; results are bool.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/comparison.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/operations.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::rank;
using tenon_test::binary_difference;
using tenon_test::infinity;
using tenon_test::nan_value;
using tenon_test::numbers_of;
using numbers = std::vector<double>;

template <class T, class Space>
void check_comparisons(const std::vector<double>& x) {
  const auto check = [&](const auto& operation, const auto& symbol, const auto& reference) {
    const auto as_double = [&](double a, double b) { return reference(a, b) ? 1.0 : 0.0; };
    CHECK(binary_difference<T, Space>(operation, as_double, x) == "");
    CHECK(binary_difference<T, Space>(symbol, as_double, x) == "");
  };
  check(tenon::equal, [](const auto& a, const auto& b) { return a == b; }, [](double a, double b) { return a == b; });
  check(
      tenon::not_equal, [](const auto& a, const auto& b) { return a != b; }, [](double a, double b) { return a != b; });
  check(tenon::less, [](const auto& a, const auto& b) { return a < b; }, [](double a, double b) { return a < b; });
  check(
      tenon::less_equal, [](const auto& a, const auto& b) { return a <= b; },
      [](double a, double b) { return a <= b; });
  check(tenon::greater, [](const auto& a, const auto& b) { return a > b; }, [](double a, double b) { return a > b; });
  check(
      tenon::greater_equal, [](const auto& a, const auto& b) { return a >= b; },
      [](double a, double b) { return a >= b; });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("floating values compare, NaN with nothing", "[comparison]", tenon_test::spaces) {
  const std::vector<double> values = {0, -0.0, 1, -1, 2.5, nan_value, infinity, -infinity};
  check_comparisons<float, TestType>(values);
  check_comparisons<double, TestType>(values);
  check_comparisons<tenon::half, TestType>(values);
}

TEMPLATE_LIST_TEST_CASE("integers of every width compare", "[comparison]", tenon_test::spaces) {
  check_comparisons<std::int8_t, TestType>({0, 1, -1, 127, -128});
  check_comparisons<std::uint8_t, TestType>({0, 1, 127, 128, 255});
  check_comparisons<std::int32_t, TestType>({0, 1, -1, 2147483647, -2147483648.0});
  check_comparisons<std::int64_t, TestType>({0, 1, -1, 4294967296.0, -4294967296.0});
}

namespace {

/// Compares every pair of values that are near the ends of either type, in rows that packs take and their rest.
template <class Space, class Left, class Right>
std::size_t wrong_comparisons() {
  const std::uint64_t values[] = {0, 1, 7, ~std::uint64_t{0}, std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 1};
  std::vector<Left> left;
  std::vector<Right> right;
  for (const std::uint64_t x : values) {
    for (const std::uint64_t y : values) left.push_back(static_cast<Left>(x)), right.push_back(static_cast<Right>(y));
  }
  const auto a = tenon_test::tensor_of<Space>(tenon::rank<1>(36), left);
  const auto b = tenon_test::tensor_of<Space>(tenon::rank<1>(36), right);
  std::size_t wrong = 0;
  const auto check = [&](const auto& statement, const auto& reference) {
    const auto found = numbers_of<Space>(statement);
    for (std::size_t i = 0; i < 36; ++i) wrong += (found[i] != 0) == reference(left[i], right[i]) ? 0 : 1;
  };
  check(a == b, [](auto x, auto y) { return std::cmp_equal(x, y); });
  check(a != b, [](auto x, auto y) { return std::cmp_not_equal(x, y); });
  check(a < b, [](auto x, auto y) { return std::cmp_less(x, y); });
  check(a <= b, [](auto x, auto y) { return std::cmp_less_equal(x, y); });
  check(a > b, [](auto x, auto y) { return std::cmp_greater(x, y); });
  check(a >= b, [](auto x, auto y) { return std::cmp_greater_equal(x, y); });
  return wrong;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("signed integers beside unsigned ones of 64 bits compare as numbers", "[comparison]",
                        tenon_test::spaces) {
  CHECK(wrong_comparisons<TestType, std::int64_t, std::uint64_t>() == 0);
  CHECK(wrong_comparisons<TestType, std::uint64_t, std::int8_t>() == 0);
}

TEMPLATE_LIST_TEST_CASE("integers that float does not hold compare with floats", "[comparison]", tenon_test::spaces) {
  const auto check = [](auto zero) {
    using T = decltype(zero);
    const auto x = tenon_test::made_tensor<T, TestType>(
        rank<1>(37), [](tenon::index i) { return static_cast<double>(16777210 + i); });
    numbers same(37, 0), above(37, 1), half_above(37, 1);
    same[7] = 1;
    for (std::size_t i = 0; i < 8; ++i) above[i] = half_above[i] = 0;
    CHECK(numbers_of(x == 16777217.0) == same);
    CHECK(numbers_of(x > 16777217.001) == above);
    CHECK(numbers_of(16777217.5 < x) == half_above);
    const auto centre = tenon_test::tensor_of<TestType, float>(rank<1>(1), {16777216});
    numbers at_centre(37, 0);
    at_centre[6] = 1;
    CHECK(numbers_of(x == centre) == at_centre);
    CHECK(numbers_of(centre == x) == at_centre);
    CHECK(numbers_of(x == tenon_test::tensor_of<TestType, tenon::half>(rank<1>(1), {tenon::half(2.0f)})) ==
          numbers(37, 0));
  };
  check(std::int32_t{});
  check(std::uint32_t{});
  check(std::int64_t{});
  check(std::uint64_t{});
}

TEMPLATE_LIST_TEST_CASE("numbers stand on either side, results count as bool", "[comparison]", tenon_test::spaces) {
  const auto x = tenon_test::counting<float, TestType>(tenon::rank<1>(5));
  STATIC_REQUIRE(std::is_same_v<typename decltype(x > 2)::element, bool>);
  CHECK(numbers_of(x > 2) == std::vector<double>{0, 0, 0, 1, 1});
  CHECK(numbers_of(2 > x) == std::vector<double>{1, 1, 0, 0, 0});
  CHECK(numbers_of((x > 0) == (x < 4)) == std::vector<double>{0, 1, 1, 1, 0});
  CHECK(numbers_of((x > 2) * x) == std::vector<double>{0, 0, 0, 3, 4});
  CHECK(numbers_of(tenon::sum(x > 2)) == std::vector<double>{2});
}

TEST_CASE("masks are no condition, and tensors not of equality_comparable", "[comparison]") {
  using vector = tenon::tensor<float, tenon::rank<1>>;
  using small = tenon::tensor<float, tenon::shape<2>>;
  STATIC_REQUIRE(!std::equality_comparable<vector>);
  STATIC_REQUIRE(!std::totally_ordered<vector>);
  STATIC_REQUIRE(!std::is_convertible_v<tenon::pointwise_of<tenon::equal_op, vector&, vector&>, int>);
  STATIC_REQUIRE(!std::is_constructible_v<bool, tenon::pointwise_of<tenon::add_op, vector&, vector&>>);
  constexpr small x = {1, 2};
  STATIC_REQUIRE(static_cast<bool>(tenon::all(x == x)));
  STATIC_REQUIRE(static_cast<bool>(tenon::sum(x) == 3));
}

TEMPLATE_LIST_TEST_CASE("long rows of masks", "[comparison]", tenon_test::spaces) {
  const auto x = tenon_test::counting<double, TestType>(tenon::rank<1>(1001));
  const auto y = tenon_test::counting<float, TestType>(tenon::rank<1>(1001), 500, 0);
  CHECK(numbers_of(tenon::sum(x < y)) == std::vector<double>{500});
}
