// tests/nn/batch_norm.cpp: statistics of batches and running ones, as PyTorch defines them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/batch_norm.hpp>

#include <algorithm>

#include "nn/passes.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using nn::affine;
using tenon::rank;
using tenon_test::numbers_of;

TEMPLATE_LIST_TEST_CASE("running statistics follow those of batches", "[batch_norm]", tenon_test::spaces) {
  nn::batch_norm<2, affine::both, TestType> layer;
  layer.initialise(0);
  const auto x = tenon_test::tensor_of<TestType, float>(rank<3>(2, 2, 2), {1, 2, 10, 20, 3, 6, 30, 40});
  layer.prepare(x);
  const auto y = numbers_of(layer.forward(x));
  const double deviation = std::sqrt((4.0 + 1 + 0 + 9) / 4 + 1e-5);
  CHECK(std::fabs(y[0] - (1 - 3) / deviation) < 1e-5);
  CHECK(std::fabs(numbers_of(layer.running_mean)[0] - 0.1 * 3) < 1e-6);
  CHECK(std::fabs(numbers_of(layer.running_mean)[1] - 0.1 * 25) < 1e-6);
  CHECK(std::fabs(numbers_of(layer.running_var)[0] - (0.9 + 0.1 * 14 / 3)) < 1e-6);
  CHECK(layer.num_batches_tracked == 1);

  layer.is_training = false;
  layer.prepare(x);
  const double running = std::sqrt(0.9 + 0.1 * 14 / 3 + 1e-5);
  CHECK(std::fabs(numbers_of(layer.forward(x))[0] - (1 - 0.3) / running) < 1e-5);
  CHECK(layer.num_batches_tracked == 1);
}

TEST_CASE("each channel is scaled and shifted by its own numbers", "[batch_norm]") {
  nn::batch_norm<> layer(3);
  layer.initialise(0);
  layer.weight = {tenon::tensor<float, rank<1>>{2, -1, 0.5f}, tenon::zeros<float>({3})};
  layer.bias = {tenon::tensor<float, rank<1>>{0.25f, 3, -4}, tenon::zeros<float>({3})};
  layer.running_mean = tenon::tensor<float, rank<1>>{1, -2, 100};
  layer.running_var = tenon::tensor<float, rank<1>>{4, 0.25f, 9};
  layer.is_training = false;
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>({5, 3, 3, 3}, 2, -1, 1));
  const auto differs = [&] {  // the channels are axis 1, of 9 elements each
    layer.prepare(x);
    const auto y = numbers_of(layer.forward(x)), from = numbers_of(x);
    const auto mean = numbers_of(layer.running_mean), variance = numbers_of(layer.running_var);
    const auto weight = numbers_of(layer.weight.value), bias = numbers_of(layer.bias.value);
    double most = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t channel = i / 9 % 3;
      const double standard = (from[i] - mean[channel]) / std::sqrt(variance[channel] + 1e-5);
      most = std::max(most, std::fabs(y[i] - (standard * weight[channel] + bias[channel])));
    }
    return most;
  };
  CHECK(differs() < 2e-5);
  layer.weight = {tenon::tensor<float, rank<1>>{1, 2, 3}, tenon::zeros<float>({3})};  // the next call sees it
  CHECK(differs() < 2e-5);
}

TEST_CASE("without a momentum running statistics are the mean of all batches", "[batch_norm]") {
  nn::batch_norm<> layer(1, {.cumulative = true});
  layer.initialise(0);
  for (const float centre : {1.0f, 4.0f}) {
    tenon::tensor<float, rank<2>> x({2, 1});
    x(0, 0) = centre - 1, x(1, 0) = centre + 1;
    layer.prepare(x);
  }
  CHECK(numbers_of(layer.running_mean)[0] == 2.5);
  CHECK(numbers_of(layer.running_var)[0] == 2);
}

TEST_CASE("gradients agree with differences, in training and outside", "[batch_norm]") {
  using both = nn::batch_norm<3, affine::both, tenon::host, double>;
  using none = nn::batch_norm<2, affine::none, tenon::host, double>;
  CHECK(tenon_test::layer_difference<none>(rank<3>(3, 2, 2)) == "");
  both used;
  used.is_training = false;
  CHECK(tenon_test::layer_difference(rank<2>(4, 3), used) == "");
}

TEST_CASE("one value a channel has no variance to train with", "[batch_norm]") {
  nn::batch_norm<3> layer;
  layer.initialise(0);
  const tenon::tensor<float, rank<2>> x({1, 3});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { layer.prepare(x); }) ==
        "batch_norm: 1 values a channel, expected at least 2 in training (input [1, 3])");
}

TEST_CASE("a copy in another space trains on", "[batch_norm]") {
  nn::batch_norm<> layer(2);
  layer.initialise(0);
  auto copy = layer.to<tenon::emulated>();
  const auto x = tenon_test::random_input<tenon::emulated>(rank<2>(4, 2));
  copy.prepare(x);
  const auto y = numbers_of(copy.forward(x));
  layer.prepare(x.to<tenon::host>());
  const auto expected = numbers_of(layer.forward(x.to<tenon::host>()));
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(std::fabs(y[i] - expected[i]) < 1e-6);
}
