// tenon/train/lr_find.hpp: a first learning rate, found by a short training at rates that rise.
// The loss falls fastest where the rate is right, and grows without bound where it is too great.
// Floor 8: may include base, core, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <optional>
#include <tenon/base/array.hpp>
#include <tenon/base/error.hpp>
#include <tenon/train/check_option.hpp>
#include <vector>

namespace tenon::train {

/// Options of lr_find: the range of rates, the number of steps, and when to end early.
struct lr_find_options {
  double start = 1e-7, end = 10;  // the first rate and the last one
  index steps = 100;
  double beta = 0.98;   // how much of the average of losses stays at each step
  double diverged = 4;  // ends where the average is more than so many times the least one; infinity never ends it
};

/// What lr_find found: rates and losses, one for each step, and the rate that it suggests.
struct found_rates {
  std::vector<double> rates, losses;  // losses are averages of the last steps
  std::optional<double> suggestion;   // where losses fell fastest; none where they did not fall
};

namespace detail {

/// The rate where losses fall fastest per step; the first ten steps and the last one are too rough to count.
inline std::optional<double> steepest_rate(const std::vector<double>& rates, const std::vector<double>& losses) {
  std::optional<double> found;
  double least = 0;
  for (std::size_t i = 10; i + 2 < losses.size(); ++i) {
    const double slope = (losses[i + 1] - losses[i - 1]) / 2;
    if (slope < least) least = slope, found = rates[i];
  }
  return found;
}

/// The rates of an optimizer's groups, which have them again at the end of its life.
template <class Optimizer>
class kept_rates {
 public:
  explicit kept_rates(Optimizer& optimizer) : optimizer_(optimizer) {
    for (int group = 0; group < optimizer.groups(); ++group) rates_.push_back(optimizer.options(group).lr);
  }
  kept_rates(const kept_rates&) = delete;
  kept_rates& operator=(const kept_rates&) = delete;
  ~kept_rates() {
    for (std::size_t group = 0; group < rates_.size(); ++group) {
      optimizer_.options(static_cast<int>(group)).lr = rates_[group];
    }
  }

 private:
  Optimizer& optimizer_;
  std::vector<double> rates_;
};

}  // namespace detail

/// Trains for some steps at rates that rise from `start` to `end` by the same factor, and ends early where the loss is
/// not finite or has diverged. `step()` is one step of training and returns its loss. Afterwards the rates of the
/// optimizer's groups are those from before. The parameters of the network, what the optimizer remembers and random
/// numbers that were drawn are not put back: save the network first, or use a copy.
/// throws    error for options that make no sense
/// source    Smith 2017 (range test); lightning.pytorch's lr_find
/// example   const auto step = [&] { return optimizer.step([&] { return loss_of(net, next_batch()); }); };
///           const auto found = train::lr_find(optimizer, step);
///           if (found.suggestion) optimizer.options().lr = *found.suggestion;
template <class Optimizer, class Step>
found_rates lr_find(Optimizer& optimizer, const Step& step, const lr_find_options& options = {}) {
  check_finite("lr_find", "end", options.end);
  if (!(options.diverged >= 1)) {  // the first average is the least one
    throw error(compose_text("lr_find: diverged: ", options.diverged, ", expected at least 1"));
  }
  if (!(options.start > 0 && options.end > options.start && options.steps > 1 && options.beta >= 0 &&
        options.beta < 1)) {
    throw error(compose_text("lr_find: rates from ", options.start, " to ", options.end, " in ", options.steps,
                             " steps, beta ", options.beta,
                             ", expected rates above 0 that rise, two steps or more, and "
                             "beta at least 0 and below 1"));
  }
  const detail::kept_rates<Optimizer> kept(optimizer);
  found_rates found;
  double average = 0, weight = 0, least = 0;
  for (index i = 0; i < options.steps; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(options.steps - 1);
    const double rate = std::pow(options.start, 1 - share) * std::pow(options.end, share);  // their ratio may overflow
    for (int group = 0; group < optimizer.groups(); ++group) optimizer.options(group).lr = rate;
    average = options.beta * average + (1 - options.beta) * static_cast<double>(step());
    weight = options.beta * weight + (1 - options.beta);
    const double loss = average / weight;
    if (!std::isfinite(loss)) break;
    found.rates.push_back(rate), found.losses.push_back(loss);
    least = i == 0 ? loss : std::fmin(least, loss);
    if (least > 0 && loss > options.diverged * least) break;
  }
  found.suggestion = detail::steepest_rate(found.rates, found.losses);
  return found;
}

}  // namespace tenon::train
