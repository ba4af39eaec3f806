// benchmarks/compile_time/torch/unet.cpp: tenon/unet.cpp in libtorch's words.
// SPDX-License-Identifier: Apache-2.0
#include <torch/torch.h>

#include <cstdio>

namespace nn = torch::nn;
namespace F = torch::nn::functional;

nn::Conv2d same(int in, int out) { return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1)); }
nn::Sequential make_block(int in, int out) {
  return nn::Sequential(same(in, out), nn::ReLU(), same(out, out), nn::ReLU());
}
nn::ConvTranspose2d twice(int in, int out) {
  return nn::ConvTranspose2d(nn::ConvTranspose2dOptions(in, out, 2).stride(2));
}

struct unet_impl : nn::Module {
  nn::Sequential first = make_block(1, 8), second = make_block(8, 16), bottom = make_block(16, 32);
  nn::ConvTranspose2d to_second = twice(32, 16), to_first = twice(16, 8);
  nn::Sequential second_up = make_block(32, 16), first_up = make_block(16, 8);
  nn::Conv2d last{nn::Conv2dOptions(8, 1, 1)};

  unet_impl() {
    register_module("first", first), register_module("second", second), register_module("bottom", bottom);
    register_module("to_second", to_second), register_module("to_first", to_first);
    register_module("second_up", second_up), register_module("first_up", first_up), register_module("last", last);
  }
  torch::Tensor forward(const torch::Tensor& images) {
    const auto level_1 = first->forward(images);
    const auto level_2 = second->forward(F::max_pool2d(level_1, F::MaxPool2dFuncOptions(2)));
    const auto level_3 = bottom->forward(F::max_pool2d(level_2, F::MaxPool2dFuncOptions(2)));
    const auto up_2 = second_up->forward(torch::cat({level_2, to_second->forward(level_3)}, 1));
    return last->forward(first_up->forward(torch::cat({level_1, to_first->forward(up_2)}, 1)));
  }
};
TORCH_MODULE_IMPL(unet, unet_impl);

int main() {
  torch::manual_seed(1);
  unet net;
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(2e-3));
  const auto grid = torch::arange(32.0f);
  for (int step = 0; step < 100; ++step) {
    const auto row = torch::empty({8, 1, 1, 1}).uniform_(8, 24), column = torch::empty({8, 1, 1, 1}).uniform_(8, 24);
    const auto radius = torch::empty({8, 1, 1, 1}).uniform_(4, 8);
    const auto discs = (torch::hypot(grid.view({32, 1}) - row, grid - column) < radius).to(torch::kFloat32);
    const auto images = discs + 0.7f * torch::randn(discs.sizes());

    optimizer.zero_grad();
    const auto logits = net->forward(images);
    const auto loss = F::binary_cross_entropy_with_logits(logits, discs);
    loss.backward();
    optimizer.step();
    if (step % 20 == 19) {
      const auto both = ((logits > 0) & (discs > 0.5)).sum().item<double>();
      const auto either = ((logits > 0) | (discs > 0.5)).sum().item<double>();
      std::printf("step %d: loss %.4f, overlap %.3f\n", step + 1, loss.item<double>(), both / either);
    }
  }
  return 0;
}
