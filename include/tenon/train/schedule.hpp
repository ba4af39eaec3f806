// tenon/train/schedule.hpp: how the learning rate changes over the steps.
// A schedule is a pure function of a first rate and the step, so a resumed training needs no state of it.
// Floor 8: may include base, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/base/array.hpp>
#include <vector>

namespace tenon::train {

namespace detail {

/// From `first` at share 0 to `last` at share 1, along half a cosine.
inline double along_cosine(double first, double last, double share) {
  return last + (first - last) / 2 * (1 + std::cos(3.14159265358979323846 * share));
}

}  // namespace detail

/// Multiplies the rate by `gamma` after every `step_size` steps: first * gamma^(step / step_size), rounded down.
/// source    torch.optim.lr_scheduler.StepLR
/// example   optimizer.schedule(train::step_lr{.step_size = 30}, epoch);
struct step_lr {
  index step_size;
  double gamma = 0.1;

  double operator()(double first, index step) const {
    return first * std::pow(gamma, static_cast<double>(step / step_size));
  }
};

/// Multiplies the rate by `gamma` at each of the steps `milestones`.
/// source    torch.optim.lr_scheduler.MultiStepLR
/// example   optimizer.schedule(train::multi_step_lr{.milestones = {30, 80}}, epoch);
struct multi_step_lr {
  std::vector<index> milestones;
  double gamma = 0.1;

  double operator()(double first, index step) const {
    for (const index each : milestones) first = step >= each ? first * gamma : first;
    return first;
  }
};

/// Multiplies the rate by `gamma` after every step: first * gamma^step.
/// source    torch.optim.lr_scheduler.ExponentialLR
struct exponential_lr {
  double gamma;

  double operator()(double first, index step) const { return first * std::pow(gamma, static_cast<double>(step)); }
};

/// Lowers the rate along half a cosine, to `eta_min` at step `t_max`. Beyond that it rises again.
/// source    torch.optim.lr_scheduler.CosineAnnealingLR; Loshchilov, Hutter 2017 (SGDR), without restarts
struct cosine_annealing_lr {
  index t_max;
  double eta_min = 0;

  double operator()(double first, index step) const {
    return detail::along_cosine(first, eta_min, static_cast<double>(step) / static_cast<double>(t_max));
  }
};

/// Warm-up: the rate times a factor that goes from `start_factor` to `end_factor` in a line, over `total_iters` steps.
/// source    torch.optim.lr_scheduler.LinearLR
struct linear_lr {
  double start_factor = 1.0 / 3;
  double end_factor = 1;
  index total_iters = 5;

  double operator()(double first, index step) const {
    const double share =
        step >= total_iters ? 1 : static_cast<double>(step) / static_cast<double>(total_iters);  // of 0 steps too
    return first * (start_factor + (end_factor - start_factor) * share);
  }
};

/// One schedule up to step `milestone`, then another, whose steps count from there.
/// source    torch.optim.lr_scheduler.SequentialLR
/// example   train::sequential_lr{train::linear_lr{.total_iters = 500}, 500, train::cosine_annealing_lr{.t_max = 9500}}
template <class Before, class After>
struct sequential_lr {
  Before before;
  index milestone;
  After after;

  double operator()(double first, index step) const {
    return step < milestone ? before(first, step) : after(first, step - milestone);
  }
};
template <class Before, class After>
sequential_lr(Before, index, After) -> sequential_lr<Before, After>;

/// How one_cycle_lr goes from one rate to the next.
enum class annealing { cos, linear };

/// Raises the rate from max_lr / div_factor to max_lr, then lowers it to far less, within `total_steps`; momentum, or
/// the first of betas, goes the other way. The rates that the optimizer began with do not matter.
/// source    torch.optim.lr_scheduler.OneCycleLR; Smith, Topin 2018 (Super-Convergence)
struct one_cycle_lr {
  double max_lr;
  index total_steps;
  double pct_start = 0.3;  // share of the steps that go up
  annealing anneal_strategy = annealing::cos;
  bool cycle_momentum = true;
  double base_momentum = 0.85;
  double max_momentum = 0.95;
  double div_factor = 25;
  double final_div_factor = 1e4;
  bool three_phase = false;  // whether it goes down as it went up, before it goes far down

  double operator()(double, index step) const {
    const double first = max_lr / div_factor;
    return at(step, {{first, max_lr, three_phase ? first : first / final_div_factor, first / final_div_factor}});
  }
  /// Sets what an optimizer's options have of momentum.
  template <class Options>
  void set_momentum(Options& options, index step) const {
    const double momentum = at(step, {{max_momentum, base_momentum, max_momentum, max_momentum}});
    if constexpr (requires { options.betas; }) {
      if (cycle_momentum) options.betas[0] = momentum;
    } else if constexpr (requires { options.momentum; }) {
      if (cycle_momentum) options.momentum = momentum;
    }
  }

 private:
  /// At the ends of the phases are these values.
  double at(index step, const array<double, 4>& values) const {
    const double last = static_cast<double>(total_steps) - 1, rise = pct_start * static_cast<double>(total_steps) - 1;
    const array<double, 4> ends{{0, rise, three_phase ? 2 * rise : last, last}};
    const double position = static_cast<double>(step) < last ? static_cast<double>(step) : last;
    const int phase = position <= ends[1] ? 0 : position <= ends[2] ? 1 : 2;
    const double share = (position - ends[phase]) / (ends[phase + 1] - ends[phase]);
    if (anneal_strategy == annealing::cos) return detail::along_cosine(values[phase], values[phase + 1], share);
    return values[phase] + (values[phase + 1] - values[phase]) * share;
  }
};

}  // namespace tenon::train
