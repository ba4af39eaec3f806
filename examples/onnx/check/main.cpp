// examples/onnx/check/main.cpp: headers that tenon-onnx wrote, beside plain loops: called, planned, trained, refused.
// SPDX-License-Identifier: Apache-2.0
#include <class.hpp>
#include <cstdio>
#include <small_attention.hpp>
#include <small_cnn.hpp>
#include <small_lstm.hpp>
#include <small_reverse.hpp>
#include <small_shapes.hpp>
#include <span>
#include <string>
#include <tenon/device/emulated.hpp>
#include <tenon/nn/inference.hpp>

#include "checks.hpp"
#include "reference.hpp"

namespace {

void check_cnn(const std::string& folder) {
  auto net = loaded<small_cnn_network::network<>>(folder, "small_cnn");
  for (const tn::index batch : {3, 1}) {
    const reference::numbers x = reference::waves_of(41, static_cast<std::size_t>(batch) * 84);
    const auto input = input_of<small_cnn_network::input>(small_cnn_network::input::shape_type(batch), x);
    const reference::numbers expected = reference::cnn(x, static_cast<std::size_t>(batch));
    const tn::no_grad testing;
    compare("cnn, " + std::to_string(batch) + " images", net(input), expected);
    nn::inference use(net, input);
    compare("cnn, planned", use.run(input), expected);
  }
}

/// The gradient of a weight, beside a difference of losses.
void check_training(const std::string& folder) {
  auto net = loaded<small_cnn_network::network<>>(folder, "small_cnn");
  const auto input =
      input_of<small_cnn_network::input>(small_cnn_network::input::shape_type(2), reference::waves_of(42, 168));
  const auto loss = [&] { return tn::mean(tn::square(net(input))); };
  tn::backward(loss());
  const float found = net.fc.weight.gradient(1, 2);
  const auto loss_at = [&](float weight) {
    net.fc.weight.value(1, 2) = weight;
    const tn::no_grad testing;
    return static_cast<double>(float(loss()));
  };
  const float weight = net.fc.weight.value(1, 2);
  const double difference = (loss_at(weight + 0.01f) - loss_at(weight - 0.01f)) / 0.02;
  check("cnn, gradient", std::fabs(static_cast<double>(found) - difference) < 1e-3 && found != 0);
}

/// Files that do not fit leave the network as it was.
void check_refusals(const std::string& folder) {
  small_cnn_network::network<> net;
  std::string text;
  try {
    tn::train::load_state(net, folder + "/small_lstm.safetensors");
  } catch (const tn::file_error& failure) {
    text = failure.what();
  }
  check("weights of another network", text.find("conv1.weight") != std::string::npos);
}

void check_lstm(const std::string& folder) {
  auto net = loaded<small_lstm_network::network<>>(folder, "small_lstm");
  const std::vector<std::int64_t> words = {0, 4, 2, 3, 3, 1};
  small_lstm_network::input input(small_lstm_network::input::shape_type(2));
  std::copy(words.begin(), words.end(), input.data());
  const tn::no_grad testing;
  compare("lstm", net(input), reference::lstm(words, 2));
  nn::inference use(net, input);
  compare("lstm, planned", use.run(input), reference::lstm(words, 2));
}

/// What sees the last step first gives what the same weights give for the steps in the other order.
void check_reverse(const std::string& folder) {
  auto net = loaded<small_reverse_network::network<>>(folder, "small_reverse");
  const small_reverse_network::input::shape_type extents(4);
  const auto steps = input_of<small_reverse_network::input>(extents, reference::waves_of(46, 24));
  const small_reverse_network::input turned = tn::flip(steps, tn::axis<0>);
  const tn::no_grad testing;
  const auto there = net(steps), back = net(turned);
  const auto expected = tn::evaluated_tensor(tn::flip(std::get<0>(back), tn::axis<0>));
  const auto all = std::span(expected.data(), static_cast<std::size_t>(expected.size()));
  compare("reverse", std::get<1>(there), reference::numbers(all.begin(), all.end()));
  const tn::tensor<float, tn::shape<>> apart = tn::max(tn::abs(std::get<0>(there) - std::get<1>(there)));
  check("reverse, another result", *apart.data() > 0.01f);
}

void check_attention(const std::string& folder) {
  auto net = loaded<small_attention_network::network<>>(folder, "small_attention");
  const reference::numbers x = reference::waves_of(43, 24);
  const auto input = input_of<small_attention_network::input>(small_attention_network::input::shape_type(2), x);
  const tn::no_grad testing;
  compare("attention", net(input), reference::attention(x, 2));
  nn::inference use(net, input);
  compare("attention, planned", use.run(input), reference::attention(x, 2));
}

/// The last column, then the first one.
void check_columns(const std::string& folder) {
  auto net = loaded<class_network::network<>>(folder, "class");
  const reference::numbers x = reference::waves_of(52, 6);
  const auto input = input_of<class_network::input>(class_network::input::shape_type(2), x);
  reference::numbers expected;
  for (const std::size_t place : {2u, 0u, 5u, 3u}) expected.push_back(std::fmax(x[place], 0.0));
  const tn::no_grad testing;
  compare("columns", net(input), expected);
}

void check_shapes(const std::string& folder) {
  auto net = loaded<small_shapes_network::network<>>(folder, "small_shapes");
  const reference::numbers x = reference::waves_of(44, 20), z = reference::waves_of(45, 20);
  const auto first = input_of<small_shapes_network::input1>(small_shapes_network::input1::shape_type(5), x);
  const auto second = input_of<small_shapes_network::input2>(small_shapes_network::input2::shape_type(5), z);
  const reference::numbers expected = reference::shapes(x, z, 5);
  const tn::no_grad testing;
  const auto [rows, means] = net(first, second);
  compare("shapes, rows", rows, expected);
  compare("shapes, means", means, expected, 35);
  auto moved = net.to<tn::emulated>();
  const auto there = moved(first.to<tn::emulated>(), second.to<tn::emulated>());
  compare("shapes, on an emulated device", std::get<0>(there), expected);
}

}  // namespace

int main(int count, char** arguments) {
  return run_checks(count, arguments, [](const std::string& folder) {
    check_cnn(folder), check_training(folder), check_refusals(folder);
    check_lstm(folder), check_reverse(folder), check_attention(folder), check_shapes(folder), check_columns(folder);
  });
}
