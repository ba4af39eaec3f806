// benchmarks/torch_networks.hpp: the networks of W9 in libtorch, where the build found it (BENCHMARKS_TORCH).
// Parameters begin as those of Tenon's networks, in the order in which both name them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(BENCHMARKS_TORCH)
#include <torch/torch.h>

#include "torch.hpp"

struct torch_simple_cnn : torch::nn::Module {
  torch_simple_cnn() {
    register_module("conv1", conv1), register_module("conv2", conv2);
    register_module("fc1", fc1), register_module("fc2", fc2);
  }
  torch::Tensor forward(const torch::Tensor& images) {
    torch::Tensor x = torch::max_pool2d(torch::relu(conv1(images)), 2);
    x = torch::max_pool2d(torch::relu(conv2(x)), 2).flatten(1);
    return fc2(torch::relu(fc1(x)));
  }
  torch::nn::Conv2d conv1{torch::nn::Conv2dOptions(3, 32, 3).padding(1)};
  torch::nn::Conv2d conv2{torch::nn::Conv2dOptions(32, 64, 3).padding(1)};
  torch::nn::Linear fc1{3136, 128}, fc2{128, 10};
};

struct torch_lstm_classifier : torch::nn::Module {
  torch_lstm_classifier() { register_module("lstm", lstm), register_module("fc", fc); }
  torch::Tensor forward(const torch::Tensor& sequence) {
    return fc(std::get<0>(lstm(sequence)).select(0, sequence.size(0) - 1));
  }
  torch::nn::LSTM lstm{64, 128};
  torch::nn::Linear fc{128, 10};
};

template <class TorchNetwork, class Network>
void take_parameters(TorchNetwork& to, Network& from) {
  const torch::NoGradGuard no_gradients;
  const std::vector<torch::Tensor> parameters = to.parameters();
  std::size_t number = 0;
  from.visit_parameters([&](const std::string&, auto& parameter) {
    const torch::Tensor& each = parameters.at(number++);
    each.copy_(seen_by_torch(parameter.value).reshape(each.sizes()));
  });
}

/// A step of stochastic gradient descent with momentum.
template <class TorchNetwork>
class torch_training {
 public:
  explicit torch_training(TorchNetwork& network)
      : network_(network), optimizer_(network.parameters(), torch::optim::SGDOptions(0.01).momentum(0.9)) {}

  void step(const torch::Tensor& input, const torch::Tensor& labels) {
    optimizer_.zero_grad();
    torch::nn::functional::cross_entropy(network_.forward(input), labels).backward();
    optimizer_.step();
  }

 private:
  TorchNetwork& network_;
  torch::optim::SGD optimizer_;
};
#endif
