// examples/beside_pytorch/unet.cpp: a class for every pixel, by a network shaped as a U: down, up, and across.
// SPDX-License-Identifier: Apache-2.0
#include "start.hpp"

template <tn::index Inputs, tn::index Channels>
struct double_conv : nn::module<double_conv<Inputs, Channels>> {
  nn::conv2d<Inputs, Channels, 3, nn::conv2d_options{.padding = 1}> conv1;
  nn::conv2d<Channels, Channels, 3, nn::conv2d_options{.padding = 1}> conv2;

  auto forward(const auto& x) { return tn::relu(conv2(tn::relu(conv1(x)))); }
};

struct unet : nn::module<unet> {
  double_conv<1, 8> down1;
  double_conv<8, 16> down2;
  double_conv<16, 32> bottom;
  nn::max_pool2d<2> pool;
  nn::conv_transpose2d<32, 16, 2, nn::conv2d_options{.stride = 2}> up2;
  double_conv<32, 16> join2;
  nn::conv_transpose2d<16, 8, 2, nn::conv2d_options{.stride = 2}> up1;
  double_conv<16, 8> join1;
  nn::conv2d<8, 3, 1> head;

  auto forward(const auto& x) {
    const tn::traced a = down1(x);
    const tn::traced b = down2(pool(a));
    const tn::traced g = up2(bottom(pool(b)));
    const tn::traced h = up1(join2(tn::concatenate(tn::axis<1>, b, g)));
    return head(join1(tn::concatenate(tn::axis<1>, a, h)));
  }
};

std::vector<float> train_unet() {
  const auto images = waves(tn::rank<4>(4, 1, 16, 16));
  const auto labels = classes(3, tn::rank<3>(4, 16, 16));
  unet net;
  start(net);
  tn::train::adam<> optimizer(net, {.lr = 1e-3});
  std::vector<float> losses;
  for (int step = 0; step < 10; ++step) {
    losses.push_back(optimizer.step([&] { return nn::cross_entropy_loss(net(images), labels); }));
  }
  return losses;
}
