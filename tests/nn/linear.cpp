// tests/nn/linear.cpp: the fully connected layer, forward and backward.
// Against plain loops and differences; PyTorch's own cases are in tests/golden.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/linear.hpp>

#include "nn/passes.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon::shape;
using tenon_test::difference;
using tenon_test::numbers_of;

namespace {

constexpr nn::linear_options with_bias{}, no_bias{.bias = false};

/// Parameters and the gradient of the input after one backward pass.
template <class Space, class Layer, class Input, class Gradient>
auto input_gradient(Layer& layer, const Input& input, const Gradient& gradient) {
  tenon::tensor<float, rank<2>, Space> result(rank<2>(input.shape()));
  layer.backward(input, input, gradient, result.write_view());
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("linear layers take copies of their weight in another order", "[linear]", tenon_test::spaces) {
  nn::linear<13, 5> small;
  nn::linear<tenon::dyn, tenon::dyn, with_bias, TestType> large(40, 70);
  large.initialise(4), small.initialise(3);
  auto known = small.to<TestType>();
  const auto check = [](const auto& layer, const auto& x) {
    const tenon::tensor<float, rank<2>, TestType> across(tenon::transpose(layer.weight.value));
    using seen =
        tenon::view<const float, typename std::remove_cvref_t<decltype(layer.weight.value)>::shape_type, TestType>;
    const seen copy(across.data(), layer.weight.value.shape(), {1, layer.weight.value.extent(0)});
    static_assert(std::is_same_v<decltype(layer.forward_by(copy, x)), decltype(layer.forward(x))>);
    CHECK(difference(numbers_of(layer.forward_by(copy, x)), numbers_of(layer.forward(x)), 1e-6) == "");
  };
  const auto wave = [](tenon::index i) { return static_cast<double>(i * 37 % 41) / 20 - 1; };
  check(known, tenon_test::made_tensor<float, TestType>(rank<2>(7, 13), wave).view());
  check(large, tenon_test::made_tensor<float, TestType>(rank<2>(7, 40), wave).view());
}

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
  const nn::linear<13, 5> layer;
  STATIC_REQUIRE(std::is_same_v<decltype(layer.output_shape(shape<4, 13>{})), shape<4, 5>>);
  STATIC_REQUIRE(std::is_same_v<decltype(layer.output_shape(shape<3, tenon::dyn, 13>{})), shape<3, tenon::dyn, 5>>);
  CHECK(layer.output_shape(rank<2>(6, 13)) == rank<2>(6, 5));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)layer.output_shape(rank<2>(6, 12)); }) ==
        "linear: axis 1: extent 12, expected 13 (input [6, 12])");
}

TEST_CASE("sizes of a linear layer may be given at run time", "[linear]") {
  nn::linear<tenon::dyn, tenon::dyn> at_run_time(13, 5);
  CHECK(at_run_time.output_shape(rank<3>(2, 6, 13)) == rank<3>(2, 6, 5));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)at_run_time.output_shape(shape<2, 12>{}); }) ==
        "linear: axis 1: extent 12, expected 13 (input [2, 12])");
  CHECK(tenon_test::text_of<tenon::shape_error>([] { nn::linear<13, 5>(12, 5); }) != "");
  nn::linear<13, 5> known;
  known.initialise(4), at_run_time.initialise(4);
  CHECK(numbers_of(at_run_time.weight.value) == numbers_of(known.weight.value));
  const auto copied = at_run_time.to<tenon::emulated>();
  CHECK(numbers_of(copied.bias.value) == numbers_of(known.bias.value));
  CHECK(copied.output_shape(rank<1>(13)) == rank<1>(5));
}

TEST_CASE("linear layers map the last axis of inputs of any rank", "[linear]") {
  CHECK(tenon_test::layer_difference<nn::linear<4, 3, with_bias, tenon::host, double>>(rank<1>(4)) == "");
  CHECK(tenon_test::layer_difference<nn::linear<4, 3, with_bias, tenon::host, double>>(rank<3>(2, 3, 4)) == "");
  CHECK(tenon_test::layer_difference<nn::linear<4, 3, no_bias, tenon::host, double>>(rank<4>(2, 1, 3, 4)) == "");
  CHECK(tenon_test::layer_difference<nn::linear<4, 3, no_bias, tenon::host, double>>(rank<1>(4)) == "");
}

TEST_CASE("linear layers without a bias have one parameter", "[linear]") {
  nn::linear<4, 3, no_bias> layer;
  layer.initialise(1);
  std::string names;
  layer.visit_parameters([&](const char* name, auto&) { names += name; });
  CHECK(names == "weight");
}

TEMPLATE_LIST_TEST_CASE("a batch of none leaves gradients of zero", "[linear]", tenon_test::spaces) {
  nn::linear<3, 2> made;
  made.initialise(1);
  auto layer = made.to<TestType>();
  const tenon::tensor<float, rank<3>, TestType> x(rank<3>(2, 0, 3)), g(rank<3>(2, 0, 2));
  CHECK(layer.forward(x).shape() == rank<3>(2, 0, 2));
  layer.weight.gradient = 1, layer.bias.gradient = 1;
  layer.backward(x, g, g, nn::not_wanted{});
  CHECK(numbers_of(layer.weight.gradient) == std::vector<double>(6));
  CHECK(numbers_of(layer.bias.gradient) == std::vector<double>(2));
}
