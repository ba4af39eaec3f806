// benchmarks/compile_time/torch/mlp.cpp: tenon/mlp.cpp in libtorch's words.
// SPDX-License-Identifier: Apache-2.0
#include <torch/torch.h>

#include <cstdio>
#include <string>

int main(int count, char** arguments) {
  const std::string folder = count > 1 ? arguments[1] : ".";
  const int epochs = count > 2 ? std::stoi(arguments[2]) : 5;
  torch::manual_seed(1);
  auto digits = torch::data::datasets::MNIST(folder)
                    .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                    .map(torch::data::transforms::Stack<>());
  const auto examples = static_cast<double>(digits.size().value());
  torch::nn::Sequential net(torch::nn::Flatten(), torch::nn::Linear(784, 512), torch::nn::ReLU(),
                            torch::nn::Linear(512, 512), torch::nn::ReLU(), torch::nn::Linear(512, 10));
  torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(1e-3));
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(std::move(digits), 64);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    double sum = 0;
    std::int64_t right = 0;
    for (const auto& batch : *loader) {
      optimizer.zero_grad();
      const auto logits = net->forward(batch.data);
      const auto loss = torch::nn::functional::cross_entropy(logits, batch.target);
      loss.backward();
      optimizer.step();
      sum += loss.item<double>() * static_cast<double>(batch.target.size(0));
      right += logits.argmax(1).eq(batch.target).sum().item<std::int64_t>();
    }
    std::printf("epoch %d: loss %.4f, accuracy %.4f\n", epoch + 1, sum / examples,
                static_cast<double>(right) / examples);
  }
  return 0;
}
