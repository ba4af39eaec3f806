// tenon/train/plateau.hpp: learning rates that fall when a measure stops getting better.
// Unlike other schedules it hangs on what was measured, so it has state, which a checkpoint keeps.
// Floor 8: may include base, core, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <tenon/base/array.hpp>
#include <tenon/core/kept_text.hpp>
#include <tenon/train/check_option.hpp>

namespace tenon::train {

/// Whether a measure is better when it is less, as a loss is, or greater.
enum class better { min, max };
/// How files name it.
inline const char* name_of(better mode) { return mode == better::min ? "min" : "max"; }
/// Whether `threshold` is a share of the best measure or a difference from it.
enum class threshold_kind { rel, abs };

/// Options of reduce_lr_on_plateau, with PyTorch's names.
struct plateau_options {
  better mode = better::min;
  double factor = 0.1;
  index patience = 10;  // so many measures in a row may be no better
  double threshold = 1e-4;
  threshold_kind threshold_mode = threshold_kind::rel;
  index cooldown = 0;  // measures after a reduction that do not count
  double min_lr = 0;
  double eps = 1e-8;  // the least change of a rate
};

/// A schedule that multiplies the rate by `factor` when more than `patience` measures in a row were no better.
/// throws    error for options that make no sense
/// source    torch.optim.lr_scheduler.ReduceLROnPlateau
/// example   plateau.observe(loss); optimizer.schedule(plateau);
class reduce_lr_on_plateau {
 public:
  static constexpr const char* state_prefix = "plateau.";

  explicit reduce_lr_on_plateau(const plateau_options& options = {})
      : options_(options), best_(options.mode == better::min ? infinity : -infinity) {
    constexpr const char* name = "reduce_lr_on_plateau";
    check_option(name, "factor", options.factor, 0, 1), check_option(name, "patience", options.patience, 0);
    check_finite(name, "threshold", options.threshold), check_option(name, "cooldown", options.cooldown, 0);
    check_option(name, "min_lr", options.min_lr, 0), check_option(name, "eps", options.eps, 0);
  }

  /// Takes the measure of an epoch, such as the loss of validation.
  void observe(double measure) {
    const bool is_better = improves(measure);
    if (is_better) best_ = measure;
    bad_measures_ = is_better ? 0 : bad_measures_ + 1;
    if (cooling_ > 0) --cooling_, bad_measures_ = 0;
    if (bad_measures_ > options_.patience) ++reductions_, cooling_ = options_.cooldown, bad_measures_ = 0;
  }
  /// The rate after all reductions of a first one.
  double operator()(double first, index) const {
    for (std::int64_t i = 0; i < reductions_; ++i) {
      const double less = std::max(first * options_.factor, options_.min_lr);
      if (first - less > options_.eps) first = less;
    }
    return first;
  }
  std::int64_t reductions() const { return reductions_; }

  /// Calls `visitor(name, number)` for all that it remembers.
  template <class Network, class Visitor>
  void visit_state(Network&, Visitor&& visitor) {
    auto bad_measures = kept_within(bad_measures_, {.least = 0}), cooling = kept_within(cooling_, {.least = 0});
    auto reductions = kept_within(reductions_, {.least = 0});
    kept_text mode(name_of(options_.mode));
    visitor(std::string("mode"), mode);
    visitor(std::string("best"), best_), visitor(std::string("num_bad_epochs"), bad_measures);
    visitor(std::string("cooldown_counter"), cooling), visitor(std::string("reductions"), reductions);
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  bool improves(double measure) const {
    const double sign = options_.mode == better::min ? -1 : 1;
    const bool is_share = options_.threshold_mode == threshold_kind::rel;
    const double bar = is_share ? best_ * (1 + sign * options_.threshold) : best_ + sign * options_.threshold;
    return options_.mode == better::min ? measure < bar : measure > bar;
  }

  plateau_options options_;
  double best_;
  std::int64_t bad_measures_ = 0, cooling_ = 0, reductions_ = 0;
};

}  // namespace tenon::train
