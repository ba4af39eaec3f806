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
template <int Rank, class Space, class Run, class Network, class Optimizer>
result train_by_layers(const golden_case& given, Run& run, Network& net, Optimizer optimizer,
                       const layer_names& layers) {
  result found;
  train_network<Rank, Space>(given, run, net, optimizer, found, [&](index step) {
    if (step != 0) return;
    net.visit_parameters([&](const std::string& name, auto& parameter) {
      found.gradients[torch_name(name, layers)] = copied(parameter.gradient);
    });
  });
  net.visit_parameters([&](const std::string& name, auto& parameter) {
    found.parameters_after[torch_name(name, layers)] = copied(parameter.value);
  });
  return found;
}

template <class Space>
result train_simple_cnn(const golden_case& given) {
  constexpr nn::conv2d_options same{.padding = 1};
  auto net = nn::sequential(nn::conv2d<3, 32, 3, same>{}, nn::relu{}, nn::max_pool2d<2>{},   //
                            nn::conv2d<32, 64, 3, same>{}, nn::relu{}, nn::max_pool2d<2>{},  //
                            nn::flatten{}, nn::linear<3136, 128>{}, nn::relu{}, nn::linear<128, 10>{})
                 .template to<Space>();
  const layer_names layers{{"0", "conv1"}, {"3", "conv2"}, {"7", "fc1"}, {"9", "fc2"}};
  const tn::io::safetensors_file file(given.folder / "model.safetensors");
  net.visit_parameters([&](const std::string& name, auto& parameter) {
    auto read = parameter.value.template to<tn::host>();
    file.read(torch_name(name, layers), read);
    parameter.value.copy_from(read);
  });
  sequential_run<decltype(net), tn::shape<tn::dyn, 3, 28, 28>, Space> run(net);
  return train_by_layers<4, Space>(given, run, net, tn::train::sgd<Space>(sgd_options_of(given)), layers);
}

/// An LSTM of two layers, and a linear layer for its output at the last step.
template <class Space>
struct stacked_lstm {
  static constexpr index hidden = 10;
  using sequence = tn::tensor<float, tn::rank<3>, Space>;
  using matrix = tn::tensor<float, tn::rank<2>, Space>;
  nn::lstm<6, hidden, Space> lstm{6, hidden, nn::recurrent_options{.layers = 2, .batch_first = true}};
  nn::linear<hidden, 4, nn::linear_options{}, Space> fc{};
  matrix last{}, logits{};
  array_table states{};  // those of the latest forward pass

  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    const auto visit = [&](const char* layer, auto& own) {
      own.visit_parameters([&](const std::string& name, auto& each) { visitor(layer + name, each); });
    };
    visit("lstm.", lstm), visit("fc.", fc);
  }
  const matrix& forward(const sequence& x) {
    const auto values = lstm.forward(x);
    states["output"] = copied(values.sequence), states["h_n"] = copied(values.hidden);
    states["c_n"] = copied(values.cell);
    last = tn::reshape(tn::slice(values.sequence, tn::all_of, tn::only(x.extent(1) - 1)),
                       tn::rank<2>(x.extent(0), hidden));
    logits = fc.forward(last);
    return logits;
  }
  template <class Gradient>
  void backward(const sequence& x, const Gradient& gradient) {
    matrix of_last(last.shape());
    fc.backward(last, logits, tn::evaluated_tensor(gradient), of_last.write_view());
    sequence of_sequence = tn::zeros<float, Space>(tn::rank<3>(x.extent(0), x.extent(1), hidden));
    tn::slice(of_sequence, tn::all_of, tn::range(x.extent(1) - 1, x.extent(1))) = tn::new_axis<1>(of_last);
    lstm.backward(of_sequence);
  }
};

template <class Space>
result train_stacked_lstm(const golden_case& given) {
  const layer_names layers{{"lstm", "lstm"}, {"fc", "fc"}};
  stacked_lstm<Space> net;
  set_parameters<Space>(net, layers, [&](const std::string& name) { return given.parameters.at(name); });
  net.forward(tensor_of<float, Space, 3>(part_of(given.inputs.at("input"), 0)));
  const array_table before = net.states;
  tn::train::adam<Space> optimizer(adam_options_of<tn::train::adam_options>(given));
  result found = train_by_layers<3, Space>(given, net, net, optimizer, layers);
  found.outputs.insert(before.begin(), before.end());
  found.outputs_after.insert(net.states.begin(), net.states.end());
  return found;
}

}  // namespace

void add_network(device_tables& devices) {
  on_each_device(devices, []<class Space>(layer_table& table) {
    table["SimpleCNN"] = train_simple_cnn<Space>;
    table["StackedLSTM"] = train_stacked_lstm<Space>;
  });
}

}  // namespace golden
