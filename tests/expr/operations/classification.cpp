// tests/expr/operations/classification.cpp: a table of the family.
// References are the C library's and NumPy's formula of isclose.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/classification.hpp>

#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/spaces.hpp"

namespace {

using tenon_test::binary_difference;
using tenon_test::infinity;
using tenon_test::nan_value;
using tenon_test::numbers_of;
using numbers = std::vector<double>;

const numbers classes = {0, -0.0, 1, -2.5, infinity, -infinity, nan_value};

/// `operation(x)` against `reference`, at a length with a rest.
template <class T, class Space, class Operation>
bool agrees(const Operation& operation, bool (*reference)(double)) {
  const auto x = tenon_test::repeated<T, Space>(classes, 37);
  const auto here = numbers_of(x), found = numbers_of(operation(x));
  for (std::size_t i = 0; i < here.size(); ++i) {
    if ((found[i] != 0) != reference(here[i])) return false;
  }
  return here.size() == found.size();
}

template <class T, class Space>
void check_classification() {
  CHECK(agrees<T, Space>(tenon::isnan, [](double x) { return std::isnan(x); }));
  CHECK(agrees<T, Space>(tenon::isinf, [](double x) { return std::isinf(x); }));
  CHECK(agrees<T, Space>(tenon::isfinite, [](double x) { return std::isfinite(x); }));
}

bool close(double x, double y, double relative, double absolute) {
  return x == y || (std::isfinite(x) && std::isfinite(y) && std::fabs(x - y) <= absolute + relative * std::fabs(y));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("NaN and infinities are told apart", "[classification]", tenon_test::spaces) {
  check_classification<float, TestType>();
  check_classification<double, TestType>();
  check_classification<tenon::half, TestType>();
  check_classification<tenon::bfloat16, TestType>();
  const auto x = tenon_test::counting<std::int8_t, TestType>(tenon::rank<1>(3));
  CHECK(numbers_of(tenon::isnan(x)) == numbers{0, 0, 0});
  CHECK(numbers_of(tenon::isinf(x)) == numbers{0, 0, 0});
  CHECK(numbers_of(tenon::isfinite(x)) == numbers{1, 1, 1});
}

TEMPLATE_LIST_TEST_CASE("closeness is relative to the second operand", "[classification]", tenon_test::spaces) {
  const numbers x = {0, 1e-9, 1, 1.000009, 1.1, -1, 1e10, 1.00001e10, infinity, -infinity, nan_value};
  const auto tight = [](double a, double b) { return static_cast<double>(close(a, b, 1e-5, 1e-8)); };
  const auto loose = [](double a, double b) { return static_cast<double>(close(a, b, 0.2, 0)); };
  CHECK(binary_difference<double, TestType>([](const auto& a, const auto& b) { return tenon::isclose(a, b); }, tight,
                                            x) == "");
  CHECK(binary_difference<float, TestType>(
            [](const auto& a, const auto& b) { return tenon::isclose(a, b, {.relative = 0.2, .absolute = 0}); }, loose,
            x) == "");
}

TEMPLATE_LIST_TEST_CASE("NaN may be close to NaN, integers are compared in double", "[classification]",
                        tenon_test::spaces) {
  const auto x = tenon_test::repeated<float, TestType>({nan_value, 1}, 3);
  CHECK(numbers_of(tenon::isclose(x, x)) == numbers{0, 1, 0});
  CHECK(numbers_of(tenon::isclose(x, x, {.equal_nan = true})) == numbers{1, 1, 1});
  CHECK(numbers_of(tenon::isclose(x, 1, {.equal_nan = true})) == numbers{0, 1, 0});
  const auto y = tenon_test::tensor_of<TestType, int>(tenon::rank<1>(2), {100000000, 10});
  CHECK(numbers_of(tenon::isclose(y, y + 1, {.relative = 0, .absolute = 0.5})) == numbers{0, 0});
  CHECK(numbers_of(tenon::isclose(y, y + 1, {.relative = 1e-7})) == numbers{1, 0});
}
