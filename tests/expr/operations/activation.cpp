// tests/expr/operations/activation.cpp: a table of the family.
// References are PyTorch's formulas in double; none may overflow on the way or lose small values.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/activation.hpp>

#include <algorithm>

#include "support/catch.hpp"
#include "support/activation_inputs.hpp"
#include "support/spaces.hpp"

namespace {

using tenon_test::absolute_difference;
using tenon_test::everywhere;
using tenon_test::numbers_of;
using tenon_test::special_inputs;
using tenon_test::unary_difference;

double relu_of(double x) { return std::isnan(x) || x > 0 ? x : 0; }
double relu6_of(double x) { return std::isnan(x) ? x : std::clamp(x, 0.0, 6.0); }
double elu_of(double x, double alpha) { return x > 0 ? x : alpha * std::expm1(x); }
double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double softplus_of(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }
double soft_shrink_of(double x) { return std::fabs(x) <= 0.5 ? 0 : x > 0 ? x - 0.5 : x + 0.5; }

template <class T, class Space>
void check_activations() {
  const auto near = [](const auto& operation, const auto& reference, double ulps) {
    CHECK(unary_difference<T, Space>(operation, reference, everywhere, ulps) == "");
  };
  near(tenon::leaky_relu, [](double x) { return x > 0 ? x : static_cast<double>(T(0.01)) * x; }, 1);
  near(tenon::elu, [](double x) { return elu_of(x, 1); }, 2);
  near(tenon::celu, [](double x) { return elu_of(x, 1); }, 2);
  near(tenon::selu, [](double x) { return 1.0507009873554804934193 * elu_of(x, 1.6732632423543772848170); }, 3);
  near(tenon::log_sigmoid, [](double x) { return std::min(x, 0.0) - std::log1p(std::exp(-std::fabs(x))); }, 3);
  near([](const auto& x) { return tenon::soft_cap(x, 2); }, [](double x) { return 2 * std::tanh(x / 2); }, 3);
  near([](const auto& x) { return tenon::soft_cap(x, 0); }, [](double x) { return x; }, 0);
  near(tenon::softplus, softplus_of, 3);
  near(tenon::softsign, [](double x) { return x / (1 + std::fabs(x)); }, 2);
  near(tenon::hard_tanh, [](double x) { return std::isnan(x) ? x : std::clamp(x, -1.0, 1.0); }, 0);
  near(tenon::hard_sigmoid, [](double x) { return relu6_of(x + 3) / 6; }, 2);
  near(tenon::hard_swish, [](double x) { return x * relu6_of(x + 3) / 6; }, 2);
  near(tenon::hard_shrink, [](double x) { return std::fabs(x) <= 0.5 ? 0 : x; }, 0);
  near(tenon::soft_shrink, soft_shrink_of, 1);
  const double unit = 8 * tenon_test::spacing<T>;
  CHECK(absolute_difference<T, Space>(tenon::tanh_shrink, [](double x) { return x - std::tanh(x); }, unit) == "");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("relu", "[activation]", tenon_test::spaces) {
  CHECK(unary_difference<float, TestType>(tenon::relu, relu_of, special_inputs, 0) == "");
  CHECK(unary_difference<double, TestType>(tenon::relu, relu_of, special_inputs, 0) == "");
  CHECK(unary_difference<tenon::half, TestType>(tenon::relu, relu_of, special_inputs, 0) == "");
  CHECK(unary_difference<std::int8_t, TestType>(tenon::relu, relu_of, {0, 1, -1, 127, -128}, 0) == "");
  CHECK(unary_difference<std::int32_t, TestType>(tenon::relu, relu_of, {0, 1, -1, 1e9, -1e9}, 0) == "");
  CHECK(unary_difference<float, TestType>(tenon::relu6, relu6_of, everywhere, 0) == "");
  CHECK(unary_difference<std::int8_t, TestType>(tenon::relu6, relu6_of, {0, 1, -1, 127, -128}, 0) == "");
}

TEMPLATE_LIST_TEST_CASE("sigmoid", "[activation]", tenon_test::spaces) {
  CHECK(unary_difference<float, TestType>(tenon::sigmoid, sigmoid_of, special_inputs, 8) == "");
  CHECK(unary_difference<double, TestType>(tenon::sigmoid, sigmoid_of, special_inputs, 8) == "");
  CHECK(unary_difference<tenon::half, TestType>(tenon::sigmoid, sigmoid_of, special_inputs, 1) == "");
  CHECK(unary_difference<float, TestType>(tenon::sigmoid, sigmoid_of, {-87, 87, 500, -500, 1e30, -1e30}, 8) == "");
}

TEMPLATE_LIST_TEST_CASE("activations of float", "[activation]", tenon_test::spaces) {
  check_activations<float, TestType>();
}

TEMPLATE_LIST_TEST_CASE("activations of double", "[activation]", tenon_test::spaces) {
  check_activations<double, TestType>();
}

TEMPLATE_LIST_TEST_CASE("activations take parameters", "[activation]", tenon_test::spaces) {
  const auto check = [](const auto& operation, const auto& reference) {
    CHECK(unary_difference<float, TestType>(operation, reference, everywhere, 3) == "");
  };
  check([](const auto& x) { return tenon::leaky_relu(x, 0.25); }, [](double x) { return x > 0 ? x : 0.25 * x; });
  check([](const auto& x) { return tenon::elu(x, 1.5f); }, [](double x) { return elu_of(x, 1.5); });
  check([](const auto& x) { return tenon::celu(x, 2); }, [](double x) { return x > 0 ? x : 2 * std::expm1(x / 2); });
  check([](const auto& x) { return tenon::softplus(x, 2); }, [](double x) { return softplus_of(2 * x) / 2; });
  check([](const auto& x) { return tenon::softplus(x, 1, 5); }, [](double x) { return x > 5 ? x : softplus_of(x); });
  check([](const auto& x) { return tenon::hard_tanh(x, -2, 4); },
        [](double x) { return std::isnan(x) ? x : std::clamp(x, -2.0, 4.0); });
  check([](const auto& x) { return tenon::threshold(x, 0.25, -20); }, [](double x) { return x <= 0.25 ? -20 : x; });
}

TEMPLATE_LIST_TEST_CASE("a parameter may be a tensor: a slope for each column", "[activation]", tenon_test::spaces) {
  const auto x = tenon_test::tensor_of<TestType, float>(tenon::rank<2>(2, 3), {-1, -2, -3, 4, -5, 6});
  const auto slopes = tenon_test::tensor_of<TestType, float>(tenon::rank<1>(3), {0.5f, 0, -2});
  CHECK(numbers_of(tenon::leaky_relu(x, slopes)) == std::vector<double>{-0.5, 0, 6, 4, 0, 6});
}

TEMPLATE_LIST_TEST_CASE("activations of half are rounded once", "[activation]", tenon_test::spaces) {
  using tenon::half;
  const std::vector<double> x = {0, 1, -1, 0.25, -0.75, 3, 8, 11};
  CHECK(unary_difference<half, TestType>(
            tenon::leaky_relu, [](double each) { return each > 0 ? each : static_cast<double>(0.01f) * each; }, x, 0) ==
        "");
  STATIC_REQUIRE(
      std::is_same_v<
          typename decltype(tenon::softplus(tenon::tensor<half, tenon::rank<1>>(tenon::rank<1>(2))))::element, half>);
}

TEST_CASE("relu keeps the element type, sigmoid makes integers float", "[activation]") {
  const auto x = tenon_test::counting<int>(tenon::rank<1>(3));
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::relu(x))::element, int>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::relu6(x))::element, int>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::sigmoid(x))::element, float>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::leaky_relu(x))::element, float>);
}
