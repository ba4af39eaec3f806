// examples/mnist/training.hpp: a convolutional network, how it is trained, and how it is tested.
// Two convolutions, two linear layers, stochastic gradient descent; on the CPU, on a GPU, or on the emulated device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/train.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "digits.hpp"
#include "options.hpp"

namespace tn = tenon;
namespace nn = tenon::nn;

using image_shape = tn::shape<tn::dyn, 1, 28, 28>;

inline auto make_network() {
  constexpr nn::conv2d_options same{.padding = 1};
  return nn::sequential(nn::conv2d<1, 32, 3, same>{}, nn::relu{}, nn::max_pool2d<2>{},   //
                        nn::conv2d<32, 64, 3, same>{}, nn::relu{}, nn::max_pool2d<2>{},  //
                        nn::flatten{}, nn::linear<64 * 7 * 7, 128>{}, nn::relu{}, nn::linear<128, 10>{});
}

using digits = tn::data::labelled_images;

/// MNIST from its four files, or digits that the program draws; at most `options.limit` of them.
inline digits read_digits(const mnist::options& options, bool for_training) {
  if (options.data.empty()) {
    const tn::index count = std::min<tn::index>(options.limit, for_training ? 8000 : 1000);
    return mnist::draw_digits(count, for_training ? options.seed : ~options.seed);
  }
  const std::string stem = options.data + (for_training ? "/train" : "/t10k");
  const auto first = tn::range(0, options.limit);
  return digits{tn::evaluated_tensor(tn::slice(tn::io::read_idx<3>(stem + "-images-idx3-ubyte"), first)),
                tn::evaluated_tensor(tn::slice(tn::io::read_idx<1>(stem + "-labels-idx1-ubyte"), first))};
}

/// Share of digits that the network reads rightly.
template <class Space, class Network>
double test(Network& net, const digits& examples, const mnist::options& options) {
  nn::pass<Network, image_shape, Space> pass(net);
  tn::data::loader loader(examples, {.batch = options.batch, .shuffle = false});
  std::int64_t right = 0;
  for (const auto& batch : loader.epoch(0)) {
    const auto images = batch.images.template to<Space>();
    const auto labels = batch.labels.template to<Space>();
    const auto answers = tn::argmax(pass.forward(images.view()), tn::axis<-1>);
    right += tn::sum(answers == tn::new_axis<-1>(labels));
  }
  return static_cast<double>(right) / static_cast<double>(examples.size());
}

template <class Space, class Network>
void train(Network& net, const digits& examples, const mnist::options& options) {
  nn::pass<Network, image_shape, Space> pass(net);
  tn::train::sgd<Space> optimizer({.lr = options.rate, .momentum = 0.9});
  tn::data::loader loader(examples, {.batch = options.batch, .shuffle = true, .seed = options.seed});
  const std::int64_t steps = loader.batches() * options.epochs;
  for (std::int64_t epoch = 0, step = 0; epoch < options.epochs; ++epoch) {
    tn::train::progress progress("epoch " + std::to_string(epoch + 1) + "/" + std::to_string(options.epochs),
                                 examples.size());
    for (const auto& batch : loader.epoch(epoch)) {
      const auto images = batch.images.template to<Space>();
      const auto labels = batch.labels.template to<Space>();
      const auto logits = pass.forward(images.view());
      const float loss = tn::mean(nn::cross_entropy(logits, labels));
      pass.backward(images.view(), nn::cross_entropy_gradient(logits, labels));
      optimizer.schedule(tn::train::cosine_annealing_lr{.t_max = steps}, step++);
      optimizer.step(net);
      progress.advance(images.extent(0), loss);
    }
  }
}

/// Trains and tests on one memory space.
template <class Space>
void run(const mnist::options& options) {
  auto drawn = make_network();
  drawn.initialise(options.seed);
  if (!options.load.empty()) tn::train::load_state(drawn, options.load);
  auto net = drawn.template to<Space>();
  if (!options.evaluate) train<Space>(net, read_digits(options, true), options);
  if (!options.save.empty()) tn::train::save_state(net, options.save);
  std::printf("test accuracy: %.4f\n", test<Space>(net, read_digits(options, false), options));
}
