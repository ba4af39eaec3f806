// tenon/train/early_stopping.hpp: when a measure has not become better for long enough to stop.
// It hangs on what was measured, so it has state, which a checkpoint keeps.
// Floor 8: may include base, core, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/train/check_option.hpp>
#include <tenon/train/plateau.hpp>

namespace tenon::train {

/// Options of early_stopping: how long it waits, and what counts as better.
struct early_stopping_options {
  index patience = 10;   // after so many measures in a row that are no better, it stops
  double min_delta = 0;  // by how much a measure has to be better
  better mode = better::min;
};

/// Says when to stop: after `patience` measures in a row that were no better than the best one. NaN is never better.
/// source    lightning.pytorch.callbacks.EarlyStopping
/// example   train::early_stopping stopping({.patience = 3});
///           if (stopping.observe(validation_loss)) train::save_state(net, "best.safetensors");
///           if (stopping.should_stop()) break;
class early_stopping {
 public:
  static constexpr const char* state_prefix = "early_stopping.";

  /// throws    error for options that make no sense
  explicit early_stopping(const early_stopping_options& options = {})
      : options_(options), best_(options.mode == better::min ? infinity : -infinity) {
    check_option("early_stopping", "patience", options.patience, 0);
    check_option("early_stopping", "min_delta", options.min_delta, 0);
  }

  /// Takes the measure of an epoch; whether it is the best so far.
  bool observe(double measure) {
    const double gain = options_.mode == better::min ? best_ - measure : measure - best_;
    const bool is_better = gain > options_.min_delta;
    if (is_better) best_ = measure;
    bad_measures_ = is_better ? 0 : bad_measures_ + 1;
    return is_better;
  }
  bool should_stop() const { return bad_measures_ != 0 && bad_measures_ >= options_.patience; }
  double best() const { return best_; }

  /// Calls `visitor(name, number)` for all that it remembers.
  template <class Network, class Visitor>
  void visit_state(Network&, Visitor&& visitor) {
    auto bad_measures = kept_within(bad_measures_, {.least = 0});
    kept_text mode(name_of(options_.mode));
    visitor(std::string("mode"), mode);
    visitor(std::string("best"), best_), visitor(std::string("bad_measures"), bad_measures);
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  early_stopping_options options_;
  double best_;
  std::int64_t bad_measures_ = 0;
};

}  // namespace tenon::train
