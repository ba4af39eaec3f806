// examples/mnist/course.hpp: what stands around the training: options, digits, checkpoints, logs and progress.
// Only the first of several ranks writes.
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

#include "../errors.hpp"
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

using digits = tn::data::labelled_images;

/// MNIST from its four files, or digits that the program draws; at most `options.limit` of them.
inline digits read_digits(const options& options, bool for_training) {
  if (options.data.empty()) {
    const tn::index count = std::min<tn::index>(options.limit, for_training ? 8000 : 1000);
    return draw_digits(count, for_training ? options.seed : ~options.seed);
  }
  const std::string labels = options.data + (for_training ? "/train" : "/t10k") + "-labels-idx1-ubyte";
  return digits{read_images(options.data, for_training, options.limit),
                tn::evaluated_tensor(tn::slice(tn::io::read_idx<1>(labels), tn::range(0, options.limit)))};
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
    throw tn::error(tn::compose_text("--batch: ", options.batch, ", expected a multiple of the ", ranks.size(),
                                     " ranks that share it"));
  }
  if (examples.size() < ranks.size()) {
    throw tn::error(tn::compose_text(examples.size(), " digits to learn from, expected at least one for each of the ",
                                     ranks.size(), " ranks"));
  }
  return tn::data::loader(examples, {.batch = options.batch / ranks.size(),
                                     .shuffle = true,
                                     .seed = options.seed,
                                     .shard = {ranks.rank(), ranks.size(), /*drop_uneven=*/true}});
}

/// A training on its way: goes on from a checkpoint, and notes each step.
template <class Network, class Optimizer>
class course {
 public:
  /// Gives every rank the state of the first.
  template <class Ranks>
  course(Network& net, Optimizer& optimizer, const digits& examples, const options& options, Ranks& ranks)
      : options_(options),
        is_first_(ranks.rank() == 0),
        examples_(examples.size() / ranks.size() * ranks.size()),
        loader_(make_loader(examples, options, ranks)),
        plot_(is_first_ ? options.plot : ""),
        all_(net, optimizer, loader_, plot_),
        optimizer_(optimizer) {
    if (options.resume && is_first_ && std::filesystem::exists(options.checkpoint)) {
      tn::train::load_state(all_, options.checkpoint);
    }
    tn::distributed::broadcast_state(all_, ranks);
    log_.emplace(options, is_first_, steps_done());
    if (options.watch) watch_ = std::make_unique<tn::train::nan_watch>();
  }

  tn::index epoch() { return loader_.state().epoch; }
  /// The batches of an epoch that are still to come.
  auto batches(tn::index epoch) {
    if (is_first_) {
      progress_.emplace("epoch " + std::to_string(epoch + 1) + "/" + std::to_string(options_.epochs), examples_);
      progress_->skip(loader_.state().position * options_.batch);
    }
    return loader_.epoch(epoch);
  }
  bool wants_to_stop() const { return stop_.requested(); }
  /// Of the step under way, whose batch is taken.
  tn::index step() { return steps_done() - 1; }
  tn::train::cosine_annealing_lr schedule() { return {.t_max = loader_.batches() * options_.epochs}; }

  /// Notes a step of all ranks. Returns the signal that ends the training early, or 0.
  int advance(const tn::distributed::batch_part& whole) {
    example::check_loss(whole.loss, step() + 1);
    log_->add(step(), whole.loss, optimizer_.options().lr);
    plot_.add(whole.loss);
    if (progress_) progress_->advance(whole.examples, static_cast<float>(whole.loss));
    const bool is_last = loader_.state().position == 0;  // the next epoch begins
    const bool is_due = whole.wants_to_stop || is_last || steps_done() % options_.every == 0;
    if (is_due && is_first_ && !options_.checkpoint.empty()) {
      log_->csv.flush();
      tn::train::save_state(all_, options_.checkpoint);
    }
    if (!whole.wants_to_stop) return 0;
    return stop_.requested() ? stop_.signal() : SIGINT;
  }

 private:
  using loader_type = tn::data::loader<digits>;
  tn::index steps_done() { return loader_.state().epoch * loader_.batches() + loader_.state().position; }

  const options& options_;
  bool is_first_;
  tn::index examples_;  // of an epoch, all ranks together
  loader_type loader_;
  tn::train::loss_plot plot_;
  tn::train::training<Network, Optimizer, loader_type, tn::train::loss_plot> all_;
  Optimizer& optimizer_;
  std::optional<journal> log_;
  std::optional<tn::train::progress> progress_;
  tn::train::interruption stop_;
  std::unique_ptr<tn::train::nan_watch> watch_;
};

}  // namespace mnist
