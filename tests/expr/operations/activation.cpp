// tests/expr/operations/activation.cpp: a table of the family.
// Definitions are PyTorch's; sigmoid must neither overflow nor lose small values.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/activation.hpp>

#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/spaces.hpp"

namespace {

using tenon_test::infinity;
using tenon_test::nan_value;
using tenon_test::unary_difference;

double relu_of(double x) { return std::isnan(x) || x > 0 ? x : 0; }
double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

const std::vector<double> values = {0, -0.0, 1, -1, 0.25, -7.5, 30, -30, 60, -60, infinity, -infinity, nan_value};

}  // namespace

TEMPLATE_LIST_TEST_CASE("relu", "[activation]", tenon_test::spaces) {
  CHECK(unary_difference<float, TestType>(tenon::relu, relu_of, values, 0) == "");
  CHECK(unary_difference<double, TestType>(tenon::relu, relu_of, values, 0) == "");
  CHECK(unary_difference<tenon::half, TestType>(tenon::relu, relu_of, values, 0) == "");
  CHECK(unary_difference<std::int8_t, TestType>(tenon::relu, relu_of, {0, 1, -1, 127, -128}, 0) == "");
  CHECK(unary_difference<std::int32_t, TestType>(tenon::relu, relu_of, {0, 1, -1, 1e9, -1e9}, 0) == "");
}

TEMPLATE_LIST_TEST_CASE("sigmoid", "[activation]", tenon_test::spaces) {
  CHECK(unary_difference<float, TestType>(tenon::sigmoid, sigmoid_of, values, 8) == "");
  CHECK(unary_difference<double, TestType>(tenon::sigmoid, sigmoid_of, values, 8) == "");
  CHECK(unary_difference<tenon::half, TestType>(tenon::sigmoid, sigmoid_of, values, 1) == "");
  CHECK(unary_difference<float, TestType>(tenon::sigmoid, sigmoid_of, {-87, 87, 500, -500, 1e30, -1e30}, 8) == "");
}

TEST_CASE("relu keeps the element type, sigmoid makes integers float", "[activation]") {
  const auto x = tenon_test::counting<int>(tenon::rank<1>(3));
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::relu(x))::element, int>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::sigmoid(x))::element, float>);
}
