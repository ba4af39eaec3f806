// benchmarks/compile_time/torch/lstm_classifier.cpp: tenon/lstm_classifier.cpp in libtorch's words and file format.
// SPDX-License-Identifier: Apache-2.0
#include <torch/torch.h>

#include <cstdio>
#include <filesystem>

struct classifier_impl : torch::nn::Module {
  torch::nn::Embedding embedding{1000, 64};
  torch::nn::LSTM lstm{torch::nn::LSTMOptions(64, 128).num_layers(2).batch_first(true).bidirectional(true)};
  torch::nn::Linear fc{256, 5};

  classifier_impl() {
    register_module("embedding", embedding);
    register_module("lstm", lstm);
    register_module("fc", fc);
  }
  torch::Tensor forward(const torch::Tensor& tokens) {
    const auto hidden = std::get<0>(std::get<1>(lstm->forward(embedding->forward(tokens))));
    return fc->forward(torch::cat({hidden[2], hidden[3]}, 1));
  }
};
TORCH_MODULE_IMPL(classifier, classifier_impl);

int main(int count, char** arguments) {
  const std::filesystem::path folder = count > 1 ? arguments[1] : ".";
  classifier net;
  net->eval();
  torch::load(net, folder / "lstm.pt");

  const torch::NoGradGuard no_gradients;
  const auto shares = net->forward(torch::randint(1000, {8, 40}, torch::kInt64)).softmax(-1);
  const auto classes = shares.argmax(-1);
  for (int sequence = 0; sequence < 8; ++sequence) {
    const auto best = classes[sequence].item<std::int64_t>();
    std::printf("sequence %d: class %ld, %.1f %%\n", sequence, static_cast<long>(best),
                100 * shares[sequence][best].item<double>());
  }
  return 0;
}
