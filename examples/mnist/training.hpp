// examples/mnist/training.hpp: a convolutional network, how it is trained, and how it is tested.
// On the CPU, on a GPU, or on the emulated device, by one process or by several that share each batch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "course.hpp"

namespace mnist {

/// Two convolutions, two linear layers.
template <class Space = tn::host>
struct network : nn::module<network<Space>> {
  static constexpr nn::conv2d_options same{.padding = 1};
  nn::conv2d<1, 32, 3, same, Space> conv1;
  nn::conv2d<32, 64, 3, same, Space> conv2;
  nn::linear<64 * 7 * 7, 128, nn::linear_options{}, Space> fc1;
  nn::linear<128, 10, nn::linear_options{}, Space> fc2;
  nn::max_pool2d<2> pool;
  nn::flatten flat;

  auto forward(const auto& images) {
    const auto halves = pool(tn::relu(conv1(images)));
    const auto quarters = pool(tn::relu(conv2(halves)));
    return fc2(tn::relu(fc1(flat(quarters))));
  }
};

/// Trains from where a checkpoint stands, or from the beginning. Returns the signal that ended it early, or 0.
template <class Space, class Ranks>
int train(network<Space>& net, const digits& examples, const options& options, Ranks& ranks) {
  tn::train::sgd<Space> optimizer(net, {.lr = options.rate, .momentum = 0.9});
  course way(net, optimizer, examples, options, ranks);
  tn::distributed::data_parallel parallel(net, ranks);
  for (tn::index epoch = way.epoch(); epoch < options.epochs; ++epoch) {
    for (const auto& batch : way.batches(epoch)) {
      const auto images = batch.images.template to<Space>();
      const auto labels = batch.labels.template to<Space>();
      const tn::traced loss = tn::mean(nn::cross_entropy(net(images), labels));
      const auto whole = parallel.backward(loss, images.extent(0), way.wants_to_stop());
      optimizer.schedule(way.schedule(), way.step());
      optimizer.step();
      if (const int signal = way.advance(whole)) return signal;
    }
  }
  return 0;
}

/// Share of digits that the network reads rightly.
template <class Space>
double test(network<Space>& net, const digits& examples, const options& options) {
  const tn::no_grad testing;
  tn::data::loader loader(examples, {.batch = options.batch, .shuffle = false});
  std::int64_t right = 0;
  for (const auto& batch : loader.epoch(0)) {
    const auto images = batch.images.template to<Space>();
    const auto labels = batch.labels.template to<Space>();
    right += tn::sum(tn::argmax(net(images), tn::axis<-1>) == tn::new_axis<-1>(labels));
  }
  return static_cast<double>(right) / static_cast<double>(examples.size());
}

/// Trains and tests on one memory space; several ranks share each batch, the first one tells. Returns the exit code.
template <class Space, class Ranks>
int run(const options& options, Ranks& ranks) {
  auto drawn = nn::initialised<network<>>(options.seed);
  if (!options.load.empty()) tn::train::load_state(drawn, options.load);
  auto net = drawn.template to<Space>();
  std::optional<digits> seen;
  if (!options.evaluate) seen = read_digits(options, true);
  const digits unseen = read_digits(options, false);  // whether there are any is best known before the training
  const int signal = seen ? train(net, *seen, options, ranks) : 0;
  if (ranks.rank() != 0) return signal == 0 ? 0 : 128 + signal;
  if (!options.save.empty()) tn::train::save_state(net, options.save);
  if (signal != 0) {
    std::printf("interrupted%s\n", options.checkpoint.empty() ? "" : "; go on by --resume");
    return 128 + signal;
  }
  std::printf("test accuracy: %.4f\n", test(net, unseen, options));
  return 0;
}

}  // namespace mnist
