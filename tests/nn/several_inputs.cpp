// tests/nn/several_inputs.cpp: attention and bilinear layers that are called: gradients of all inputs.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/several_inputs.hpp>

#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon::traced;
using tenon_test::difference_from_slopes;
using tenon_test::drawn;
using tenon_test::numbers_of;

namespace {

using attention = nn::multihead_attention<4, 2, nn::multihead_attention_options{}, tenon::host, double>;

/// Empty when the gradients of `loss(inputs...)` in the parameters of a layer and in the inputs agree with differences.
template <class Layer, class Loss, class... Inputs>
std::string call_difference(Layer& layer, const Loss& loss, Inputs&... inputs) {
  const auto value = [&] {
    const tenon::no_grad testing;
    return static_cast<double>(loss(inputs...));
  };
  const auto variables = tenon::make_tuple_of(tenon::variable(inputs)...);
  nn::clear_gradients(layer);
  tenon::backward(tenon::apply_tuple(loss, variables));
  std::string text;
  tenon::apply_tuple(
      [&](const auto&... variable) {
        ((text += difference_from_slopes(inputs, variable.gradient(), value, 1e-6, 1e-5)), ...);
      },
      variables);
  layer.visit_parameters([&](const auto& name, auto& parameter) {
    const auto found = difference_from_slopes(parameter.value, parameter.gradient, value, 1e-6, 1e-5);
    if (found != "") text += std::string(name) + ": " + found;
  });
  return text;
}

}  // namespace

TEST_CASE("queries that attend to keys and values of their own", "[several_inputs]") {
  attention layer;
  layer.initialise(1);
  auto query = drawn(rank<3>(2, 2, 4), 1), key = drawn(rank<3>(3, 2, 4), 2), value = drawn(rank<3>(3, 2, 4), 3);
  const auto weights = drawn(rank<3>(2, 2, 4), 4);
  const auto loss = [&](const auto& q, const auto& k, const auto& v) { return tenon::sum(layer(q, k, v) * weights); };
  CHECK(call_difference(layer, loss, query, key, value) == "");
}

TEST_CASE("keys of one batch beside queries of several", "[several_inputs]") {
  attention layer;
  layer.initialise(1);
  auto query = drawn(rank<3>(2, 2, 4), 1), key = drawn(rank<3>(3, 1, 4), 2), value = drawn(rank<3>(3, 1, 4), 3);
  auto bias = drawn(rank<2>(2, 3), 5);
  const auto weights = drawn(rank<3>(2, 2, 4), 4);
  const auto loss = [&](const auto& q, const auto& k, const auto& v) { return tenon::sum(layer(q, k, v) * weights); };
  CHECK(call_difference(layer, loss, query, key, value) == "");
  const auto with_bias = [&](const auto& mask) { return tenon::sum(layer(query, key, value, mask) * weights); };
  CHECK(call_difference(layer, with_bias, bias) == "");
}

TEST_CASE("masks, of one input and of several", "[several_inputs]") {
  attention layer;
  layer.initialise(1);
  auto x = drawn(rank<3>(3, 2, 4), 1);
  auto bias = drawn(rank<2>(3, 3), 2);
  const auto weights = drawn(rank<3>(3, 2, 4), 4);
  const tenon::tensor<bool, rank<2>> sees(tenon::arange<int>(3) <= tenon::new_axis<1>(tenon::arange<int>(3)));
  CHECK(call_difference(layer, [&](const auto& in) { return tenon::sum(layer(in, sees) * weights); }, x) == "");
  const auto with_bias = [&](const auto& in, const auto& mask) {
    return tenon::sum(layer(in, in, in, mask) * weights);
  };
  CHECK(call_difference(layer, with_bias, x, bias) == "");
  auto of_heads = drawn(rank<3>(2, 1, 3), 5);
  const auto of_itself = [&](const auto& in, const auto& mask) { return tenon::sum(layer(in, mask) * weights); };
  CHECK(call_difference(layer, of_itself, x, of_heads) == "");
}

TEST_CASE("a bilinear layer that is called twice", "[several_inputs]") {
  nn::bilinear<3, 2, 3, nn::linear_options{}, tenon::host, double> layer;
  layer.initialise(1);
  auto left = drawn(rank<2>(4, 3), 1);
  auto right = drawn(rank<2>(4, 2), 2);
  const auto loss = [&](const auto& a, const auto& b) {
    return tenon::sum(tenon::square(layer(tenon::tanh(layer(a, b)), b)));
  };
  CHECK(call_difference(layer, loss, left, right) == "");
}

TEST_CASE("bags of embeddings that are called", "[several_inputs]") {
  const tenon::tensor<int, rank<1>> indices = {1, 4, 2, 1, 0, 3, 3}, offsets = {0, 3, 3, 5};
  const auto weights = drawn(rank<2>(4, 3), 4);
  for (const nn::bag_mode mode : {nn::bag_mode::sum, nn::bag_mode::mean, nn::bag_mode::max}) {
    nn::embedding_bag<5, 3, tenon::host, double> layer({.mode = mode});
    layer.initialise(1);
    const auto loss = [&] { return tenon::sum(layer(indices, offsets) * weights); };
    CHECK(call_difference(layer, loss) == "");
  }
  nn::embedding_bag<5, 3, tenon::host, double> layer({.mode = nn::bag_mode::sum});
  layer.initialise(2);
  auto shares = drawn(rank<1>(7), 5);
  const auto loss = [&](const auto& each) { return tenon::sum(layer(indices, offsets, each) * weights); };
  CHECK(call_difference(layer, loss, shares) == "");
}

TEST_CASE("what a max pool took apart is put back by a call", "[several_inputs]") {
  const nn::max_pool2d<2> pool;
  const nn::max_unpool<2> unpool(2);
  nn::linear<4, 4, nn::linear_options{}, tenon::host, double> layer;
  layer.initialise(3);
  auto x = drawn(rank<4>(2, 3, 6, 4), 1);
  const auto weights = drawn(rank<4>(2, 3, 6, 4), 2);
  const auto loss = [&](const auto& images) {
    const traced h = layer(images);
    const traced places = pool.indices(h);
    return tenon::sum(tenon::square(unpool(tenon::tanh(pool(h)), places) + 0.5) * weights);
  };
  CHECK(call_difference(layer, loss, x) == "");
}
