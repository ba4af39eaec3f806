// tests/expr/operations/rounding.cpp: a table of the family.
// Whole numbers near ties, beyond the precision of floats, and with the sign of zero.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/rounding.hpp>

#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/spaces.hpp"

namespace {

using tenon_test::infinity;
using tenon_test::unary_difference;

double floor_of(double x) { return std::floor(x); }
double ceil_of(double x) { return std::ceil(x); }
double trunc_of(double x) { return std::trunc(x); }
double round_of(double x) {
  const double below = std::floor(x), part = x - below;
  const bool goes_up = part > 0.5 || (part == 0.5 && std::fmod(below, 2) != 0);
  return goes_up ? below + 1 : below;
}

const std::vector<double> near_halves = {
    0,   -0.0, 0.5,  -0.5,      1.5,      2.5,      -1.5,      -2.5,
    3.2, -3.2, 1e10, 8388607.5, 16777217, infinity, -infinity, tenon_test::nan_value};

template <class T, class Space>
void check_rounding(const std::vector<double>& x) {
  CHECK(unary_difference<T, Space>(tenon::floor, floor_of, x, 0) == "");
  CHECK(unary_difference<T, Space>(tenon::ceil, ceil_of, x, 0) == "");
  CHECK(unary_difference<T, Space>(tenon::trunc, trunc_of, x, 0) == "");
  CHECK(unary_difference<T, Space>(
            tenon::round, [](double each) { return std::isfinite(each) ? round_of(each) : each; }, x, 0) == "");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("rounding of floats", "[rounding]", tenon_test::spaces) {
  check_rounding<float, TestType>(near_halves);
  check_rounding<double, TestType>(near_halves);
  check_rounding<tenon::half, TestType>(near_halves);
  check_rounding<tenon::bfloat16, TestType>(near_halves);
}

TEMPLATE_LIST_TEST_CASE("fractions have the sign of their numbers", "[rounding]", tenon_test::spaces) {
  const auto frac_of = [](double x) { return x - std::trunc(x); };
  CHECK(unary_difference<float, TestType>(tenon::frac, frac_of, near_halves, 0) == "");
  CHECK(unary_difference<double, TestType>(tenon::frac, frac_of, near_halves, 0) == "");
  CHECK(unary_difference<std::int8_t, TestType>(tenon::frac, frac_of, {0, 5, -128, 127}, 0) == "");
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::rint), decltype(tenon::round)>);
}

TEMPLATE_LIST_TEST_CASE("rounding leaves integers alone", "[rounding]", tenon_test::spaces) {
  check_rounding<std::int8_t, TestType>({0, 5, -128, 127});
  check_rounding<std::int64_t, TestType>({0, 1e15, -3});
  const auto x = tenon_test::tensor_of<TestType, float>(tenon::rank<1>(1), {-0.25f});
  CHECK(tenon_test::numbers_of(1 / tenon::round(x)) == std::vector<double>{-infinity});
}
