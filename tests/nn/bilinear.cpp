// tests/nn/bilinear.cpp: the bilinear layer, forward and backward.
// Against plain loops in double and against differences; PyTorch's own case is in tests/golden.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/bilinear.hpp>

#include "nn/passes.hpp"
#include "support/gradient_rows.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon::shape;
using tenon_test::difference;
using tenon_test::numbers_of;

namespace {

constexpr nn::linear_options bilinear_bias{}, bilinear_without_bias{.bias = false};

/// Empty when the gradients of both inputs and of the parameters agree with differences.
template <class Layer, class Shape>
std::string bilinear_difference(const Shape& extents1, const Shape& extents2) {
  Layer layer;
  layer.initialise(5);
  auto x1 = tenon_test::drawn(extents1, 1), x2 = tenon_test::drawn(extents2, 2);
  const auto y = tenon::evaluated_tensor(layer.forward(x1, x2));
  const tenon::tensor<double, typename decltype(y)::shape_type> seed(tenon_test::weights_of(y.shape()));
  tenon::tensor<double, Shape> dx1(extents1), dx2(extents2);
  layer.backward(x1, x2, y, seed, dx1.write_view(), dx2.write_view());
  const auto value = [&] { return static_cast<double>(tenon::sum(layer.forward(x1, x2) * seed)); };
  const auto slopes = [&](auto& at, const auto& gradient) {
    return tenon_test::difference_from_slopes(at, gradient, value, 1e-6, 1e-6);
  };
  std::string text = slopes(x1, dx1) + slopes(x2, dx2);
  layer.visit_parameters([&](const char*, auto& parameter) { text += slopes(parameter.value, parameter.gradient); });
  return text;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("bilinear layers agree with loops", "[bilinear]", tenon_test::spaces) {
  nn::bilinear<3, 5, 4> made;
  made.initialise(2);
  const auto layer = made.to<TestType>();
  const auto x1 = tenon_test::random_input<TestType>(rank<2>(7, 3));
  const auto x2 = tenon_test::random_input<TestType>(rank<2>(7, 5));
  const auto x1s = numbers_of(x1), x2s = numbers_of(x2), ws = numbers_of(layer.weight.value),
             bs = numbers_of(layer.bias.value);
  std::vector<double> y(7 * 4);
  for (std::size_t n = 0; n < 7; ++n) {
    for (std::size_t o = 0; o < 4; ++o) {
      y[n * 4 + o] = bs[o];
      for (std::size_t ij = 0; ij < 15; ++ij)
        y[n * 4 + o] += x1s[n * 3 + ij / 5] * ws[o * 15 + ij] * x2s[n * 5 + ij % 5];
    }
  }
  CHECK(difference(numbers_of(layer.forward(x1, x2)), y, 1e-5) == "");
}

TEST_CASE("gradients of bilinear layers are differences, whatever the rank", "[bilinear]") {
  using with_bias = nn::bilinear<3, 4, 2, bilinear_bias, tenon::host, double>;
  using without_bias = nn::bilinear<3, 4, 2, bilinear_without_bias, tenon::host, double>;
  tenon_test::check_rows({
      {"bilinear", bilinear_difference<with_bias>(rank<2>(5, 3), rank<2>(5, 4))},
      {"bilinear", bilinear_difference<without_bias>(rank<3>(2, 3, 3), rank<3>(2, 3, 4))},
      {"bilinear", bilinear_difference<with_bias>(rank<1>(3), rank<1>(4))},
  });
}

TEST_CASE("parameters of bilinear layers are drawn from PyTorch's default distribution", "[bilinear]") {
  nn::bilinear<16, 9, 7> layer;
  layer.initialise(1);
  const auto drawn = numbers_of(layer.weight.value);
  CHECK(*std::min_element(drawn.begin(), drawn.end()) >= -0.25);
  CHECK(*std::min_element(drawn.begin(), drawn.end()) < -0.24);
  CHECK(*std::max_element(drawn.begin(), drawn.end()) < 0.25);
  CHECK(*std::max_element(drawn.begin(), drawn.end()) > 0.24);
}

TEST_CASE("inputs of a bilinear layer fit its weight and each other", "[bilinear]") {
  const nn::bilinear<tenon::dyn, tenon::dyn, tenon::dyn> layer(3, 5, 4);
  CHECK(layer.output_shape(rank<3>(2, 6, 3), rank<3>(2, 6, 5)) == rank<3>(2, 6, 4));
  STATIC_REQUIRE(
      std::is_same_v<decltype(nn::bilinear<3, 5, 4>().output_shape(shape<2, 3>{}, shape<2, 5>{})), shape<2, 4>>);
  const auto complaint = [&](const auto& input1, const auto& input2) {
    return tenon_test::text_of<tenon::shape_error>([&] { (void)layer.output_shape(input1, input2); });
  };
  CHECK(complaint(rank<2>(2, 5), rank<2>(2, 5)) == "bilinear: axis 1: extent 5, expected 3 (input [2, 5])");
  CHECK(complaint(rank<2>(2, 3), rank<2>(2, 3)) == "bilinear: axis 1: extent 3, expected 5 (input [2, 3])");
  CHECK(complaint(rank<2>(2, 3), rank<2>(1, 5)) ==
        "bilinear: axis 0: extents 2 and 1 differ (inputs [2, 3] and [1, 5])");
}
