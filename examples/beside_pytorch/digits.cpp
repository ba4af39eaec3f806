// examples/beside_pytorch/digits.cpp: a convolutional network reads small images; SGD with momentum.
// SPDX-License-Identifier: Apache-2.0
#include "start.hpp"

struct simple_cnn : nn::module<simple_cnn> {
  nn::conv2d<1, 8, 3, nn::conv2d_options{.padding = 1}> conv1;
  nn::conv2d<8, 16, 3, nn::conv2d_options{.padding = 1}> conv2;
  nn::max_pool2d<2> pool;
  nn::flatten flat;
  nn::linear<16 * 4 * 4, 32> fc1;
  nn::linear<32, 10> fc2;

  auto forward(const auto& x) {
    const tn::traced h = pool(tn::relu(conv1(x)));
    const tn::traced g = pool(tn::relu(conv2(h)));
    return fc2(tn::relu(fc1(flat(g))));
  }
};

std::vector<float> train_digits() {
  const auto images = waves(tn::rank<4>(16, 1, 16, 16));
  const auto labels = classes(10, tn::rank<1>(16));
  simple_cnn net;
  start(net);
  tn::train::sgd<> optimizer(net, {.lr = 0.05, .momentum = 0.9});
  std::vector<float> losses;
  for (int step = 0; step < 10; ++step) {
    losses.push_back(optimizer.step([&] { return nn::cross_entropy_loss(net(images), labels); }));
  }
  return losses;
}
