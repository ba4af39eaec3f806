// tests/expr/operations/trigonometric.cpp: a table of the family.
// The hyperbolic tangent from where it is x to where it is 1.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/trigonometric.hpp>

#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/spaces.hpp"

namespace {

double tanh_of(double x) { return std::tanh(x); }

std::vector<double> both_signs(double low, double ratio, int count) {
  std::vector<double> values = {0, -0.0};
  for (int i = 0; i < count; ++i, low *= ratio) values.push_back(low), values.push_back(-low);
  return values;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("tanh over all magnitudes", "[trigonometric]", tenon_test::spaces) {
  using tenon_test::unary_difference;
  CHECK(unary_difference<float, TestType>(tenon::tanh, tanh_of, both_signs(1e-30, 1.7, 90), 4) == "");
  CHECK(unary_difference<float, TestType>(tenon::tanh, tanh_of, both_signs(0.01, 1.05, 90), 4) == "");
  CHECK(unary_difference<double, TestType>(tenon::tanh, tanh_of, both_signs(1e-30, 2, 90), 4) == "");
  CHECK(unary_difference<double, TestType>(tenon::tanh, tanh_of, both_signs(0.01, 1.05, 90), 4) == "");
  CHECK(unary_difference<tenon::half, TestType>(tenon::tanh, tanh_of, both_signs(0.01, 1.1, 90), 1) == "");
  const double infinity = tenon_test::infinity;
  CHECK(unary_difference<float, TestType>(tenon::tanh, tanh_of,
                                          {infinity, -infinity, tenon_test::nan_value, 100, -1e30}, 1) == "");
}

TEST_CASE("tanh keeps the sign of zero", "[trigonometric]") {
  const tenon::tensor<float, tenon::rank<1>> x({5}, {-0.0f, 0.0f, -0.0f, 0.0f, -0.0f});
  const auto y = tenon::evaluated_tensor(tenon::tanh(x));
  for (int i = 0; i < 5; ++i) CHECK(std::signbit(y(i)) == (i % 2 == 0));
}
