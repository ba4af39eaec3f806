// tests/expr/operations/hyperbolic.cpp: a table of the family.
// References are the C library's in double; the hyperbolic tangent from where it is x to where it is 1.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/hyperbolic.hpp>

#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/spaces.hpp"

namespace {

using tenon_test::both_signs;
using tenon_test::unary_difference;

const std::vector<double> all_magnitudes = both_signs(1e-38, 2.45, 195), around_one = both_signs(0.01, 1.05, 190);

template <class T, class Space>
void check_hyperbolic() {
  const auto check = [](const auto& operation, double (*reference)(double)) {
    CHECK(unary_difference<T, Space>(operation, reference, all_magnitudes, 2) == "");
    CHECK(unary_difference<T, Space>(operation, reference, around_one, 2) == "");
  };
  check(tenon::sinh, [](double x) { return std::sinh(x); });
  check(tenon::cosh, [](double x) { return std::cosh(x); });
  check(tenon::tanh, [](double x) { return std::tanh(x); });
  check(tenon::asinh, [](double x) { return std::asinh(x); });
  check(tenon::acosh, [](double x) { return std::acosh(x); });
  check(tenon::atanh, [](double x) { return std::atanh(x); });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("hyperbolic functions of float", "[hyperbolic]", tenon_test::spaces) {
  check_hyperbolic<float, TestType>();
}

TEMPLATE_LIST_TEST_CASE("hyperbolic functions of double", "[hyperbolic]", tenon_test::spaces) {
  check_hyperbolic<double, TestType>();
}

TEMPLATE_LIST_TEST_CASE("tanh in half", "[hyperbolic]", tenon_test::spaces) {
  CHECK(unary_difference<tenon::half, TestType>(
            tenon::tanh, [](double x) { return std::tanh(x); }, both_signs(0.01, 1.1, 90), 1) == "");
}

TEMPLATE_LIST_TEST_CASE("odd hyperbolic functions keep the sign of zero", "[hyperbolic]", tenon_test::spaces) {
  CHECK(tenon_test::keeps_sign_of_zero<float, TestType>(tenon::tanh));
  CHECK(tenon_test::keeps_sign_of_zero<float, TestType>(tenon::sinh));
  CHECK(tenon_test::keeps_sign_of_zero<double, TestType>(tenon::asinh));
  CHECK(tenon_test::keeps_sign_of_zero<double, TestType>(tenon::atanh));
}

TEST_CASE("hyperbolic functions of integers are float", "[hyperbolic]") {
  const auto x = tenon_test::counting<int>(tenon::rank<1>(2), 1);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::cosh(x))::element, float>);
  CHECK(tenon_test::numbers_of(tenon::acosh(x))[0] == 0);
}
