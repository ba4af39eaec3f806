// tests/nn/joined_layers.cpp: passes of layers that are one statement, against those of the layers one by one.
// Odd and even images, equal values and NaN within squares, elements of all sizes; how many statements and bytes.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/launch_count.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

constexpr nn::conv2d_options padded{.padding = 1};

template <class... Layers>
constexpr int layers_of_statement = nn::detail::joined_layers<float, tenon::host, rank<4>, Layers...>::count;

/// Output and gradients of three layers: in one pass, or one by one.
template <class Network, class View, class Gradient>
std::vector<double> numbers_of_pass(Network net, const View& x, const Gradient& gradient) {
  const auto v = tenon::variable(x);
  const tenon::traced y = net(v);
  y.backward(gradient);
  auto& product = tenon::get<0>(net.layers);
  std::vector<double> result = numbers_of(y);
  for (const auto& more :
       {numbers_of(v.gradient()), numbers_of(product.weight.gradient), numbers_of(product.bias.gradient)}) {
    result.insert(result.end(), more.begin(), more.end());
  }
  return result;
}
template <class Network, class View, class Gradient>
std::vector<double> numbers_one_by_one(Network net, const View& x, const Gradient& gradient) {
  using tensor = tenon::tensor<typename Gradient::element, rank<4>, typename Gradient::space>;
  auto& product = tenon::get<0>(net.layers);
  auto& function = tenon::get<1>(net.layers);
  auto& pool = tenon::get<2>(net.layers);
  const tensor image(product.forward(x)), active(function.forward(image)), y(pool.forward(active));
  tensor image_gradient(image.shape()), active_gradient(image.shape()), dx(x.shape());
  pool.backward(active, y, gradient, active_gradient.write_view());
  function.backward(image, active, active_gradient, image_gradient.write_view());
  product.backward(x, image, image_gradient, dx.write_view());
  std::vector<double> result = numbers_of(y);
  for (const auto& more : {numbers_of(dx), numbers_of(product.weight.gradient), numbers_of(product.bias.gradient)}) {
    result.insert(result.end(), more.begin(), more.end());
  }
  return result;
}

/// Images of few different numbers, so that squares hold equal ones.
template <class T, class Space, class Function = nn::relu>
std::string pass_difference(tenon::index height, tenon::index width, double tolerance, int nan_at = -1) {
  auto drawn = nn::sequential(nn::conv2d<2, 5, 3, padded, tenon::host, T>{}, Function{}, nn::max_pool2d<2>{});
  drawn.initialise(3);
  const auto net = drawn.template to<Space>();
  const auto x = tenon_test::made_tensor<T, Space>(rank<4>(3, 2, height, width), [&](tenon::index i) {
    return i == nan_at ? std::nan("") : static_cast<double>(i * i % 3) - 1;
  });
  const auto g = tenon_test::counting<T, Space>(rank<4>(3, 5, height / 2, width / 2), 1);
  return tenon_test::difference(numbers_of_pass(net, x.view(), g), numbers_one_by_one(net, x.view(), g), tolerance);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a convolution, its relu and its pool in one pass", "[joined_layers]", tenon_test::spaces) {
  for (const tenon::index width : {2, 3, 8, 33, 70}) {
    CAPTURE(width);
    CHECK(pass_difference<float, TestType>(6, width, 1e-5) == "");
    CHECK(pass_difference<float, TestType>(7, width, 1e-5) == "");
  }
  CHECK(pass_difference<float, TestType, nn::relu6>(4, 9, 1e-5) == "");
  CHECK(pass_difference<float, TestType>(4, 9, 1e-5, 10) == "");
  CHECK(pass_difference<double, TestType>(5, 18, 1e-12) == "");
  CHECK(pass_difference<tenon::bfloat16, TestType>(5, 18, 3e-2) == "");
}

TEST_CASE("which layers are one statement", "[joined_layers]") {
  using convolution = nn::conv2d<2, 3, 1>;
  CHECK(layers_of_statement<nn::linear<2, 3>, nn::relu, nn::relu> == 2);
  CHECK(layers_of_statement<convolution, nn::relu6> == 2);
  CHECK(layers_of_statement<nn::linear<2, 3>, nn::gelu> == 1);   // its gradient needs its input
  CHECK(layers_of_statement<nn::max_pool2d<2>, nn::relu> == 1);  // whose gradient may need its output
  CHECK(layers_of_statement<nn::linear<2, 3>, nn::linear<3, 2>> == 1);
  CHECK(layers_of_statement<convolution, nn::relu, nn::max_pool2d<2>, nn::relu> == 3);
  CHECK(layers_of_statement<convolution, nn::relu, nn::max_pool2d<3>> == 2);
  CHECK(layers_of_statement<convolution, nn::relu, nn::max_pool2d<2, nn::pool2d_options{.stride = 1}>> == 2);
  CHECK(layers_of_statement<convolution, nn::relu, nn::avg_pool2d<2>> == 2);
  CHECK(layers_of_statement<convolution, nn::max_pool2d<2>> == 1);
}

TEMPLATE_LIST_TEST_CASE("a pooled convolution of the host is one launch there and two more back", "[joined_layers]",
                        tenon_test::spaces) {
  constexpr int apart = std::is_same_v<TestType, tenon::host> ? 0 : 1;
  auto made = nn::sequential(nn::conv2d<1, 2, 3, padded>{}, nn::relu{}, nn::max_pool2d<2>{});
  made.initialise(1);
  auto net = made.template to<TestType>();
  using images = tenon::shape<dyn, 1, 6, 6>;
  nn::pass<decltype(net), images, TestType> pass(net);
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(images(2, 1, 6, 6), 1));
  const auto g = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(rank<4>(2, 2, 3, 3), 2));
  const auto launches_of = [](const auto& statements) {
    statements();
    const tenon::launch_counter launches;
    statements();
    return launches.count();
  };
  CHECK(launches_of([&] { pass.forward(x.view()); }) == 1 + apart);
  tenon::tensor<float, rank<4>, TestType> image(rank<4>(2, 2, 6, 6));
  image = 1.0f;
  const int weight_and_bias = launches_of([&] {
    auto& layer = tenon::get<0>(net.layers);
    layer.backward(x.view(), image, image, nn::not_wanted{});
  });
  // the gradient as it is given, relu's slope, squares of zeros
  CHECK(launches_of([&] { pass.backward(x.view(), g); }) == 3 + weight_and_bias);
}
