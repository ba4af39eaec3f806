// benchmarks/compile_time/tenon/lstm_classifier.cpp: a bidirectional LSTM of two layers that PyTorch saved, in use.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <string>
#include <tenon/train.hpp>

namespace tn = tenon;
namespace nn = tenon::nn;

/// Tells the class of a sequence by the states in which both directions of the last layer end.
struct classifier {
  nn::embedding<tn::dyn, tn::dyn> embedding{1000, 64};
  nn::lstm<tn::dyn, tn::dyn> lstm{64, 128, {.layers = 2, .batch_first = true, .bidirectional = true}};
  nn::linear<tn::dyn, tn::dyn> fc{256, 5};

  classifier() { embedding.initialise(1), lstm.initialise(2), fc.initialise(3); }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    const auto visit = [&](const std::string& prefix, auto& layer) {
      layer.visit_parameters([&](const auto& name, auto& parameter) { visitor(prefix + name, parameter); });
    };
    visit("embedding.", embedding), visit("lstm.", lstm), visit("fc.", fc);
  }
  tn::tensor<float, tn::rank<2>> operator()(const tn::tensor<std::int64_t, tn::rank<2>>& tokens) {
    const auto [sequence, hidden, cell] = lstm.forward(embedding.forward(tokens));
    const auto direction = [&states = hidden](tn::index i) {
      return tn::squeeze(tn::narrow(states, tn::axis<0>, i, 1), tn::axis<0>);
    };
    const tn::tensor<float, tn::rank<2>> last = tn::concatenate(tn::axis<1>, direction(2), direction(3));
    return fc.forward(last);
  }
};

int main(int count, char** arguments) {
  const std::filesystem::path folder = count > 1 ? arguments[1] : ".";
  classifier net;
  net.lstm.is_training = false;
  tn::train::load_state(net, folder / "lstm.safetensors");

  const tn::tensor<std::int64_t, tn::rank<2>> tokens = tn::randint<std::int64_t>(tn::rank<2>(8, 40), 1, 0, 1000);
  const auto logits = net(tokens);
  const tn::tensor<float, tn::rank<2>> shares = tn::softmax(logits, tn::axis<-1>);
  const tn::tensor<std::int64_t, tn::rank<1>> classes = tn::argmax(logits, tn::drop<-1>);
  for (tn::index sequence = 0; sequence < tokens.extent(0); ++sequence) {
    const auto best = classes(sequence);
    std::printf("sequence %ld: class %ld, %.1f %%\n", static_cast<long>(sequence), static_cast<long>(best),
                static_cast<double>(100 * shares(sequence, best)));
  }
  return 0;
}
