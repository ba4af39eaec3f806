// tests/expr/operations/logical.cpp: a table of the family.
// Anything but zero is true, NaN included; both sides are always evaluated.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/logical.hpp>

#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/spaces.hpp"

namespace {

using tenon_test::binary_difference;
using tenon_test::unary_difference;

template <class T, class Space>
void check_logical(const std::vector<double>& x) {
  const auto both = [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; };
  const auto either = [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; };
  const auto neither = [](double a) { return a == 0 ? 1.0 : 0.0; };
  const auto one = [](double a, double b) { return (a != 0) != (b != 0) ? 1.0 : 0.0; };
  CHECK(binary_difference<T, Space>(tenon::logical_and, both, x) == "");
  CHECK(binary_difference<T, Space>(tenon::logical_or, either, x) == "");
  CHECK(binary_difference<T, Space>([](const auto& a, const auto& b) { return a && b; }, both, x) == "");
  CHECK(binary_difference<T, Space>([](const auto& a, const auto& b) { return a || b; }, either, x) == "");
  CHECK(binary_difference<T, Space>(tenon::logical_xor, one, x) == "");
  CHECK(unary_difference<T, Space>(tenon::logical_not, neither, x) == "");
  CHECK(unary_difference<T, Space>([](const auto& a) { return !a; }, neither, x) == "");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("logic on every type of element", "[logical]", tenon_test::spaces) {
  check_logical<bool, TestType>({0, 1});
  check_logical<float, TestType>({0, -0.0, 1, 0.25, -3, tenon_test::nan_value});
  check_logical<double, TestType>({0, 1e-300, -3});
  check_logical<tenon::half, TestType>({0, 1, 6e-8});
  check_logical<std::int8_t, TestType>({0, 1, -128});
  check_logical<std::int64_t, TestType>({0, 4294967296.0});
}

TEST_CASE("results are bool and mix with comparisons", "[logical]") {
  const auto x = tenon_test::counting<float>(tenon::rank<1>(40));
  const auto inside = x > 10 && x <= 20;
  STATIC_REQUIRE(std::is_same_v<decltype(inside)::element, bool>);
  CHECK(tenon_test::numbers_of(tenon::sum(inside)) == std::vector<double>{10});
  CHECK(tenon_test::numbers_of(tenon::sum(!inside || x == 15)) == std::vector<double>{31});
}
