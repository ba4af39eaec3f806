// tests/golden/network.cpp: two small networks in training.
// A convolutional one, whose parameters come from a file as PyTorch's users save it, and a recurrent one.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/safetensors.hpp>
#include <tenon/nn/activation.hpp>
#include <tenon/nn/conv.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/lstm.hpp>
#include <tenon/nn/pool.hpp>
#include <tenon/nn/reshaping.hpp>

#include "golden/training.hpp"

namespace golden {

namespace {

namespace nn = tn::nn;

/// Trains, and takes the gradients of the first step and the parameters after the last.
template <int Rank, class Space, class Network, class Optimizer>
result train_and_look(const golden_case& given, Network& net, Optimizer optimizer) {
  result found;
  train_network<Rank, Space>(given, net, optimizer, found, [&](index step) {
    if (step != 0) return;
    net.visit_parameters(
        [&](const std::string& name, auto& parameter) { found.gradients[name] = copied(parameter.gradient); });
  });
  net.visit_parameters(
      [&](const std::string& name, auto& parameter) { found.parameters_after[name] = copied(parameter.value); });
  return found;
}

template <class Space>
struct simple_cnn : nn::module<simple_cnn<Space>> {
  static constexpr nn::conv2d_options same{.padding = 1};
  nn::conv2d<3, 32, 3, same, Space> conv1;
  nn::conv2d<32, 64, 3, same, Space> conv2;
  nn::linear<3136, 128, nn::linear_options{}, Space> fc1;
  nn::linear<128, 10, nn::linear_options{}, Space> fc2;
  nn::max_pool2d<2> pool;

  auto forward(const auto& x) {
    const auto features = pool(tn::relu(conv2(pool(tn::relu(conv1(x))))));
    return fc2(tn::relu(fc1(nn::flatten{}(features))));
  }
};

template <class Space>
result train_simple_cnn(const golden_case& given) {
  simple_cnn<Space> net;
  net.initialise(0);
  const tn::io::safetensors_file file(given.folder / "model.safetensors");
  net.visit_parameters([&](const std::string& name, auto& parameter) {
    auto read = parameter.value.template to<tn::host>();
    file.read(name, read);
    parameter.value.copy_from(read);
  });
  return train_and_look<4, Space>(given, net, tn::train::sgd<Space>(sgd_options_of(given)));
}

/// An LSTM of two layers, and a linear layer for its output at the last step.
template <class Space>
struct stacked_lstm : nn::module<stacked_lstm<Space>> {
  static constexpr index hidden = 10;
  nn::lstm<6, hidden, Space> lstm{nn::recurrent_options{.layers = 2, .batch_first = true}};
  nn::linear<hidden, 4, nn::linear_options{}, Space> fc;
  array_table states{};  // those of the latest forward pass

  auto forward(const auto& x) {
    const auto values = lstm(x);
    states["output"] = copied(values.sequence), states["h_n"] = copied(values.hidden);
    states["c_n"] = copied(values.cell);
    return fc(tn::select(values.sequence, tn::axis<1>, -1));
  }
};

template <class Space>
result train_stacked_lstm(const golden_case& given) {
  stacked_lstm<Space> net;
  net.initialise(0);
  set_parameters<Space>(net, [&](const std::string& name) { return given.parameters.at(name); });
  net(tensor_of<float, Space, 3>(part_of(given.inputs.at("input"), 0)));
  const array_table before = net.states;
  tn::train::adam<Space> optimizer(adam_options_of<tn::train::adam_options>(given));
  result found = train_and_look<3, Space>(given, net, optimizer);
  found.outputs.insert(before.begin(), before.end());
  found.outputs_after.insert(net.states.begin(), net.states.end());
  return found;
}

}  // namespace

void add_network(device_tables& devices) {
  on_each_device(devices, [&]<class Space>(layer_table& table) {
    table["SimpleCNN"] = train_simple_cnn<Space>;
    table["StackedLSTM"] = train_stacked_lstm<Space>;
  });
}

}  // namespace golden
