// tests/expr/operations/trigonometric.cpp: a table of the family.
// References are the C library's in double; arguments from subnormal to far beyond the periods, and outside domains.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/trigonometric.hpp>

#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/spaces.hpp"

namespace {

using tenon_test::binary_difference;
using tenon_test::both_signs;
using tenon_test::infinity;
using tenon_test::nan_value;
using tenon_test::unary_difference;

const std::vector<double> small = both_signs(1e-38, 2.1, 190), periods = both_signs(0.01, 1.07, 190),
                          domain = both_signs(0.001, 1.04, 190);

template <class T, class Space>
void check_trigonometric() {
  const auto check = [](const auto& operation, double (*reference)(double), const std::vector<double>& inputs) {
    CHECK(unary_difference<T, Space>(operation, reference, small, 2) == "");
    CHECK(unary_difference<T, Space>(operation, reference, inputs, 2) == "");
  };
  check(tenon::sin, [](double x) { return std::sin(x); }, periods);
  check(tenon::cos, [](double x) { return std::cos(x); }, periods);
  check(tenon::tan, [](double x) { return std::tan(x); }, periods);
  check(tenon::asin, [](double x) { return std::asin(x); }, domain);
  check(tenon::acos, [](double x) { return std::acos(x); }, domain);
  check(tenon::atan, [](double x) { return std::atan(x); }, periods);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("angles and what they are the angles of, in float", "[trigonometric]", tenon_test::spaces) {
  check_trigonometric<float, TestType>();
}

TEMPLATE_LIST_TEST_CASE("angles and what they are the angles of, in double", "[trigonometric]", tenon_test::spaces) {
  check_trigonometric<double, TestType>();
}

TEMPLATE_LIST_TEST_CASE("angles in half", "[trigonometric]", tenon_test::spaces) {
  CHECK(unary_difference<tenon::half, TestType>(
            tenon::sin, [](double x) { return std::sin(x); }, both_signs(0.01, 1.1, 90), 1) == "");
}

TEMPLATE_LIST_TEST_CASE("angles of points, in all quadrants", "[trigonometric]", tenon_test::spaces) {
  const auto angle = [](double y, double x) { return std::atan2(y, x); };
  const std::vector<double> x = {0, -0.0, 1, -1, 2.5, -3, 1e-30, -1e30, infinity, -infinity, nan_value};
  CHECK(binary_difference<float, TestType>(tenon::atan2, angle, x, 1) == "");
  CHECK(binary_difference<double, TestType>(tenon::atan2, angle, x, 1) == "");
}

TEMPLATE_LIST_TEST_CASE("odd functions of angles keep the sign of zero", "[trigonometric]", tenon_test::spaces) {
  CHECK(tenon_test::keeps_sign_of_zero<float, TestType>(tenon::sin));
  CHECK(tenon_test::keeps_sign_of_zero<float, TestType>(tenon::tan));
  CHECK(tenon_test::keeps_sign_of_zero<double, TestType>(tenon::asin));
  CHECK(tenon_test::keeps_sign_of_zero<double, TestType>(tenon::atan));
}

TEST_CASE("integers are angles in float", "[trigonometric]") {
  const auto x = tenon_test::counting<int>(tenon::rank<1>(3));
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::sin(x))::element, float>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::atan2(x, x))::element, float>);
  CHECK(tenon_test::numbers_of(tenon::atan(x * 0)) == std::vector<double>{0, 0, 0});
}
