// examples/beside_pytorch/resnet.cpp: blocks with sums around them, batch norm and a global pool, as in a ResNet.
// SPDX-License-Identifier: Apache-2.0
#include "start.hpp"

template <tn::index Inputs, tn::index Channels, tn::index Stride = 1>
struct basic_block : nn::module<basic_block<Inputs, Channels, Stride>> {
  static constexpr bool is_same = Stride == 1 && Inputs == Channels;
  using projection = nn::conv2d<Inputs, Channels, 1, nn::conv2d_options{.stride = Stride, .bias = false}>;
  using projected = decltype(nn::sequential(projection{}, nn::batch_norm<Channels>{}));

  nn::conv2d<Inputs, Channels, 3, nn::conv2d_options{.stride = Stride, .padding = 1, .bias = false}> conv1;
  nn::batch_norm<Channels> bn1;
  nn::conv2d<Channels, Channels, 3, nn::conv2d_options{.padding = 1, .bias = false}> conv2;
  nn::batch_norm<Channels> bn2;
  std::conditional_t<is_same, nn::identity, projected> shortcut;

  auto forward(const auto& x) {
    const tn::traced h = tn::relu(bn1(conv1(x)));
    return tn::relu(bn2(conv2(h)) + shortcut(x));
  }
};

struct resnet : nn::module<resnet> {
  nn::conv2d<3, 8, 3, nn::conv2d_options{.padding = 1, .bias = false}> conv;
  nn::batch_norm<8> bn;
  basic_block<8, 8> layer1;
  basic_block<8, 16, 2> layer2;
  nn::adaptive_avg_pool2d<1> pool;
  nn::flatten flat;
  nn::linear<16, 10> fc;

  auto forward(const auto& x) {
    const tn::traced h = tn::relu(bn(conv(x)));
    return fc(flat(pool(layer2(layer1(h)))));
  }
};

std::vector<float> train_resnet() {
  const auto images = waves(tn::rank<4>(8, 3, 16, 16), 2);
  const auto labels = classes(10, tn::rank<1>(8));
  resnet net;
  start(net);
  tn::train::sgd<> optimizer(net, {.lr = 0.05, .momentum = 0.9, .weight_decay = 1e-4});
  std::vector<float> losses;
  for (int step = 0; step < 10; ++step) {
    losses.push_back(optimizer.step([&] { return nn::cross_entropy_loss(net(images), labels); }));
  }
  return losses;
}
