// tests/nn/linear.cpp: the fully connected layer, forward and backward.
// Against PyTorch's values where they are there, and against plain loops everywhere.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/linear.hpp>

#include "support/golden.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon::shape;
using tenon_test::difference;
using tenon_test::numbers_of;

namespace {

/// Parameters and the gradient of the input after one backward pass.
template <class Space, class Layer, class Input, class Gradient>
auto input_gradient(Layer& layer, const Input& input, const Gradient& gradient) {
  tenon::tensor<float, rank<2>, Space> result(rank<2>(input.shape()));
  layer.backward(input, input, gradient, result.write_view());
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("linear layers agree with loops", "[linear]", tenon_test::spaces) {
  const tenon::index batch = 7;
  nn::linear<13, 5> made;
  made.initialise(3);
  auto layer = made.to<TestType>();
  const auto x = tenon_test::made_tensor<float, TestType>(
      rank<2>(batch, 13), [](tenon::index i) { return static_cast<double>(i * 37 % 41) / 20 - 1; });
  const auto g = tenon_test::made_tensor<float, TestType>(
      rank<2>(batch, 5), [](tenon::index i) { return static_cast<double>(i * 29 % 31) / 15 - 1; });
  const auto xs = numbers_of(x), gs = numbers_of(g), ws = numbers_of(layer.weight.value),
             bs = numbers_of(layer.bias.value);
  std::vector<double> y(7 * 5), dx(7 * 13), dw(5 * 13), db(5);
  for (std::size_t n = 0; n < 7; ++n) {
    for (std::size_t o = 0; o < 5; ++o) {
      y[n * 5 + o] = bs[o];
      db[o] += gs[n * 5 + o];
      for (std::size_t i = 0; i < 13; ++i) {
        y[n * 5 + o] += xs[n * 13 + i] * ws[o * 13 + i];
        dx[n * 13 + i] += gs[n * 5 + o] * ws[o * 13 + i];
        dw[o * 13 + i] += gs[n * 5 + o] * xs[n * 13 + i];
      }
    }
  }
  CHECK(difference(numbers_of(layer.forward(x)), y, 1e-5) == "");
  CHECK(difference(numbers_of(input_gradient<TestType>(layer, x, g)), dx, 1e-5) == "");
  CHECK(difference(numbers_of(layer.weight.gradient), dw, 1e-5) == "");
  CHECK(difference(numbers_of(layer.bias.gradient), db, 1e-5) == "");
}

TEMPLATE_LIST_TEST_CASE("linear layers agree with PyTorch", "[linear]", tenon_test::spaces) {
  const tenon_test::golden_case golden("linear");
  if (!golden) return;
  const auto x = golden.read<float, 2, TestType>("input_input");
  const auto weight = golden.read<float, 2>("parameter_weight");
  nn::linear<13, 7> made;
  made.initialise(0);
  made.weight.value = weight;
  made.bias.value = golden.read<float, 1>("parameter_bias");
  auto layer = made.to<TestType>();
  const auto g = golden.read<float, 2, TestType>("grad_output_output");
  CHECK(tenon_test::golden_difference(layer.forward(x), golden.read<float, 2>("output_output")) == "");
  CHECK(tenon_test::golden_difference(input_gradient<TestType>(layer, x, g), golden.read<float, 2>("gradient_input")) ==
        "");
  CHECK(tenon_test::golden_difference(layer.weight.gradient, golden.read<float, 2>("gradient_weight")) == "");
  CHECK(tenon_test::golden_difference(layer.bias.gradient, golden.read<float, 1>("gradient_bias")) == "");
}

TEST_CASE("parameters are drawn from PyTorch's default distribution", "[linear]") {
  nn::linear<64, 100> layer;
  layer.initialise(9);
  double least = 1, greatest = -1;
  for (const double each : numbers_of(layer.weight.value)) {
    least = std::min(least, each), greatest = std::max(greatest, each);
  }
  CHECK(least >= -0.125);
  CHECK(greatest < 0.125);
  CHECK(least < -0.12);
  CHECK(greatest > 0.12);
  const auto first = numbers_of(layer.weight.value);
  layer.initialise(9);
  CHECK(numbers_of(layer.weight.value) == first);
  layer.initialise(10);
  CHECK(numbers_of(layer.weight.value) != first);
}

TEST_CASE("the shape of a linear layer's output is known as far as its input's", "[linear]") {
  using layer = nn::linear<13, 5>;
  STATIC_REQUIRE(std::is_same_v<decltype(layer::output_shape(shape<4, 13>{})), shape<4, 5>>);
  CHECK(layer::output_shape(rank<2>(6, 13)) == rank<2>(6, 5));
  CHECK(tenon_test::text_of<tenon::shape_error>([] { (void)layer::output_shape(rank<2>(6, 12)); }) ==
        "linear: axis 1: extent 12, expected 13 (input [6, 12])");
}
