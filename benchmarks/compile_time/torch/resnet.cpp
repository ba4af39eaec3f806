// benchmarks/compile_time/torch/resnet.cpp: tenon/resnet.cpp in libtorch's words.
// SPDX-License-Identifier: Apache-2.0
#include <torch/torch.h>

#include <cmath>
#include <cstdio>

namespace nn = torch::nn;
namespace F = torch::nn::functional;

/// x sigmoid(w x), with a learned w for each channel.
struct gate_impl : nn::Module {
  torch::Tensor weight;
  explicit gate_impl(int channels) : weight(register_parameter("weight", torch::ones({channels}))) {}
  torch::Tensor forward(const torch::Tensor& x) { return x * torch::sigmoid(x * weight.view({1, -1, 1, 1})); }
};
TORCH_MODULE_IMPL(gate, gate_impl);

nn::Conv2d convolution(int in, int out, int stride = 1) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false));
}
struct block_impl : nn::Module {
  nn::Sequential inner;
  explicit block_impl(int channels)
      : inner(register_module("inner",
                              nn::Sequential(convolution(channels, channels), nn::BatchNorm2d(channels), gate(channels),
                                             convolution(channels, channels), nn::BatchNorm2d(channels)))) {}
  torch::Tensor forward(const torch::Tensor& x) { return x + inner->forward(x); }
};
TORCH_MODULE_IMPL(block, block_impl);

int main() {
  torch::manual_seed(1);
  nn::Sequential net(convolution(3, 16), nn::BatchNorm2d(16), gate(16), block(16), gate(16), block(16), gate(16),
                     convolution(16, 32, 2), nn::BatchNorm2d(32), gate(32), block(32), gate(32), block(32), gate(32),
                     nn::AdaptiveAvgPool2d(1), nn::Flatten(), nn::Dropout(0.1), nn::Linear(32, 3));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9).weight_decay(1e-4));
  const auto grid = torch::arange(16.0f);
  for (int step = 0; step < 60; ++step) {
    // Waves along the columns, the rows, or both, in noise.
    const auto labels = torch::randint(3, {32}, torch::kInt64);
    const auto texture = labels.view({32, 1, 1, 1});
    const auto across = torch::sin(torch::where(texture == 1, 0.0f, 0.8f) * grid);
    const auto down = torch::cos(torch::where(texture == 0, 0.0f, 0.8f) * grid.view({16, 1}));
    const auto images = across * down + 0.5f * torch::randn({32, 3, 16, 16});

    optimizer.zero_grad();
    const auto logits = net->forward(images);
    const auto loss = F::cross_entropy(logits, labels);
    loss.backward();
    static_cast<torch::optim::SGDOptions&>(optimizer.param_groups()[0].options())
        .lr(0.025 * (1 + std::cos(3.14159265 * step / 60)));
    optimizer.step();
    if (step % 10 == 9) {
      const auto right = logits.argmax(1).eq(labels).sum().item<std::int64_t>();
      std::printf("step %d: loss %.4f, %ld of 32 right\n", step + 1, loss.item<double>(), static_cast<long>(right));
    }
  }
  return 0;
}
