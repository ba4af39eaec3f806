// examples/mnist/training.hpp: a convolutional network, how it is trained, and how it is tested.
// Two convolutions, two linear layers, stochastic gradient descent; on the CPU, on a GPU, or on the emulated device, by
// one process or by several that share each batch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/train.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "digits.hpp"

namespace tn = tenon;
namespace nn = tenon::nn;

namespace mnist {

/// What the command line says.
struct options {
  std::string data, device = "host", save, load, checkpoint, csv, tensorboard, plot;
  tn::index limit = std::numeric_limits<tn::index>::max() - 1, epochs = 3, batch = 32, every = 100;
  std::uint64_t seed = 1;
  float rate = 0.03f;
  bool evaluate = false, resume = false, watch = false, mpi = false;
};

using image_shape = tn::shape<tn::dyn, 1, 28, 28>;

inline auto make_network() {
  constexpr nn::conv2d_options same{.padding = 1};
  return nn::sequential(nn::conv2d<1, 32, 3, same>{}, nn::relu{}, nn::max_pool2d<2>{},   //
                        nn::conv2d<32, 64, 3, same>{}, nn::relu{}, nn::max_pool2d<2>{},  //
                        nn::flatten{}, nn::linear<64 * 7 * 7, 128>{}, nn::relu{}, nn::linear<128, 10>{});
}

using digits = tn::data::labelled_images;

/// MNIST from its four files, or digits that the program draws; at most `options.limit` of them.
inline digits read_digits(const options& options, bool for_training) {
  if (options.data.empty()) {
    const tn::index count = std::min<tn::index>(options.limit, for_training ? 8000 : 1000);
    return draw_digits(count, for_training ? options.seed : ~options.seed);
  }
  const std::string stem = options.data + (for_training ? "/train" : "/t10k");
  const auto first = tn::range(0, options.limit);
  return digits{tn::evaluated_tensor(tn::slice(tn::io::read_idx<3>(stem + "-images-idx3-ubyte"), first)),
                tn::evaluated_tensor(tn::slice(tn::io::read_idx<1>(stem + "-labels-idx1-ubyte"), first))};
}

/// Share of digits that the network reads rightly.
template <class Space, class Network>
double test(Network& net, const digits& examples, const options& options) {
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

/// Where the first rank writes how it goes.
struct journal {
  tn::train::csv_log csv;
  tn::train::tensorboard_log tensorboard;

  journal(const options& options, bool is_first, std::int64_t step)
      : csv(is_first ? options.csv : "", {"loss", "lr"}, options.resume ? std::optional(step) : std::nullopt),
        tensorboard(is_first ? options.tensorboard : "", step) {}
  void add(std::int64_t step, double loss, double rate) {
    csv.add(step, {loss, rate});
    tensorboard.add("train/loss", step, loss), tensorboard.add("train/lr", step, rate);
  }
};

/// This rank's part of the batches of all epochs.
template <class Ranks>
tn::data::loader<digits> make_loader(const digits& examples, const options& options, const Ranks& ranks) {
  if (options.batch % ranks.size() != 0) {
    throw tn::error(tn::compose_text("mnist: a batch of ", options.batch, ", expected a multiple of the ", ranks.size(),
                                     " ranks that share it"));
  }
  return tn::data::loader(examples, {.batch = options.batch / ranks.size(),
                                     .shuffle = true,
                                     .seed = options.seed,
                                     .shard = {ranks.rank(), ranks.size(), /*drop_uneven=*/true}});
}

/// Trains from where a checkpoint stands, or from the beginning. Returns the signal that ended it early, or 0.
template <class Space, class Network, class Ranks>
int train(Network& net, const digits& examples, const options& options, Ranks& ranks) {
  const bool is_first = ranks.rank() == 0;
  tn::train::sgd<Space> optimizer({.lr = options.rate, .momentum = 0.9});
  auto loader = make_loader(examples, options, ranks);
  if (loader.batches() == 0) throw tn::error("mnist: fewer digits than ranks; nothing to train on");
  tn::train::loss_plot plot(is_first ? options.plot : "");
  tn::train::training all(net, optimizer, loader, plot);
  if (options.resume && is_first && std::filesystem::exists(options.checkpoint)) {
    tn::train::load_state(all, options.checkpoint);
  }
  tn::distributed::broadcast_state(all, ranks);
  tn::distributed::data_parallel parallel(net, ranks);
  nn::pass<Network, image_shape, Space> pass(net);
  const auto steps_done = [&] { return loader.state().epoch * loader.batches() + loader.state().position; };
  journal log(options, is_first, steps_done());
  const tn::train::interruption stop;
  const auto watch = options.watch ? std::make_unique<tn::train::nan_watch>() : nullptr;

  for (tn::index epoch = loader.state().epoch; epoch < options.epochs; ++epoch) {
    auto batches = loader.epoch(epoch);
    std::optional<tn::train::progress> progress;
    if (is_first) {
      progress.emplace("epoch " + std::to_string(epoch + 1) + "/" + std::to_string(options.epochs), examples.size());
      progress->skip(loader.state().position * options.batch);
    }
    for (const auto& batch : batches) {
      const auto images = batch.images.template to<Space>();
      const auto labels = batch.labels.template to<Space>();
      const auto logits = pass.forward(images.view());
      const float loss = tn::mean(nn::cross_entropy(logits, labels));
      const auto whole = parallel.backward(pass, images.view(), nn::cross_entropy_gradient(logits, labels),
                                           {images.extent(0), loss, stop.requested()});
      const auto step = steps_done() - 1;
      optimizer.schedule(tn::train::cosine_annealing_lr{.t_max = loader.batches() * options.epochs}, step);
      optimizer.step(net);
      log.add(step, whole.loss, optimizer.options().lr);
      plot.add(whole.loss);
      if (progress) progress->advance(whole.examples, static_cast<float>(whole.loss));
      const bool is_last = loader.state().position == 0;  // the next epoch begins
      const bool is_due = whole.wants_to_stop || is_last || steps_done() % options.every == 0;
      if (is_due && is_first && !options.checkpoint.empty()) {
        log.csv.flush();
        tn::train::save_state(all, options.checkpoint);
      }
      if (whole.wants_to_stop) return stop.requested() ? stop.signal() : SIGINT;
    }
  }
  return 0;
}

/// Trains and tests on one memory space; several ranks share each batch, the first one tells. Returns the exit code.
template <class Space, class Ranks>
int run(const options& options, Ranks& ranks) {
  auto drawn = make_network();
  drawn.initialise(options.seed);
  if (!options.load.empty()) tn::train::load_state(drawn, options.load);
  auto net = drawn.template to<Space>();
  const int signal = options.evaluate ? 0 : train<Space>(net, read_digits(options, true), options, ranks);
  if (ranks.rank() != 0) return signal == 0 ? 0 : 128 + signal;
  if (!options.save.empty()) tn::train::save_state(net, options.save);
  if (signal != 0) {
    std::printf("interrupted%s\n", options.checkpoint.empty() ? "" : "; go on by --resume");
    return 128 + signal;
  }
  std::printf("test accuracy: %.4f\n", test<Space>(net, read_digits(options, false), options));
  return 0;
}

}  // namespace mnist
