// tenon/train/schedule.hpp: how the learning rate changes over the steps.
// A schedule is a pure function of a first rate and the step, so a resumed training needs no state of it.
// Floor 8: may include base, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/train/check_option.hpp>
#include <vector>

namespace tenon::train {

namespace detail {

/// From `first` at share 0 to `last` at share 1, along half a cosine.
inline double along_cosine(double first, double last, double share) {
  return last + (first - last) / 2 * (1 + std::cos(3.14159265358979323846 * share));
}

}  // namespace detail

/// Multiplies the rate by `gamma` after every `step_size` steps: first * gamma^(step / step_size), rounded down.
/// throws    error for options that make no sense
/// source    torch.optim.lr_scheduler.StepLR
/// example   optimizer.schedule(train::step_lr{.step_size = 30}, epoch);
struct step_lr {
  index step_size;
  double gamma = 0.1;

  double operator()(double first, index step) const {
    check_option("step_lr", "step_size", step_size, 1), check_option("step_lr", "gamma", gamma, 0);
    return first * std::pow(gamma, static_cast<double>(step / step_size));
  }
};

/// Multiplies the rate by `gamma` at each of the steps `milestones`.
/// throws    error for options that make no sense
/// source    torch.optim.lr_scheduler.MultiStepLR
/// example   optimizer.schedule(train::multi_step_lr{.milestones = {30, 80}}, epoch);
struct multi_step_lr {
  std::vector<index> milestones;
  double gamma = 0.1;

  double operator()(double first, index step) const {
    check_option("multi_step_lr", "gamma", gamma, 0);
    for (const index each : milestones) {
      check_option("multi_step_lr", "milestones", each, 0);
      first = step >= each ? first * gamma : first;
    }
    return first;
  }
};

/// Multiplies the rate by `gamma` after every step: first * gamma^step.
/// throws    error for options that make no sense
/// source    torch.optim.lr_scheduler.ExponentialLR
struct exponential_lr {
  double gamma;

  double operator()(double first, index step) const {
    check_option("exponential_lr", "gamma", gamma, 0);
    return first * std::pow(gamma, static_cast<double>(step));
  }
};

/// Lowers the rate along half a cosine, to `eta_min` at step `t_max`. Beyond that it rises again.
/// throws    error for options that make no sense
/// source    torch.optim.lr_scheduler.CosineAnnealingLR; Loshchilov, Hutter 2017 (SGDR), without restarts
struct cosine_annealing_lr {
  index t_max;
  double eta_min = 0;

  double operator()(double first, index step) const {
    check_option("cosine_annealing_lr", "t_max", t_max, 1);
    check_option("cosine_annealing_lr", "eta_min", eta_min, 0);
    return detail::along_cosine(first, eta_min, static_cast<double>(step) / static_cast<double>(t_max));
  }
};

/// As cosine_annealing_lr, but it begins anew after `t_0` steps, and each further time after `t_mult` times as many.
/// throws    error for options that make no sense
/// source    torch.optim.lr_scheduler.CosineAnnealingWarmRestarts; Loshchilov, Hutter 2017 (SGDR)
/// example   optimizer.schedule(train::cosine_annealing_warm_restarts{.t_0 = 10, .t_mult = 2}, epoch);
struct cosine_annealing_warm_restarts {
  index t_0;
  index t_mult = 1;
  double eta_min = 0;

  double operator()(double first, index step) const {
    check_option("cosine_annealing_warm_restarts", "t_0", t_0, 1);
    check_option("cosine_annealing_warm_restarts", "t_mult", t_mult, 1);
    check_option("cosine_annealing_warm_restarts", "eta_min", eta_min, 0);
    double length = static_cast<double>(t_0), position = static_cast<double>(t_mult == 1 ? step % t_0 : step);
    for (; position >= length; length *= static_cast<double>(t_mult)) position -= length;
    return detail::along_cosine(first, eta_min, position / length);
  }
};

/// Lowers the rate to 0 within `total_iters` steps, where it stays: first * (1 - step / total_iters)^power.
/// throws    error for options that make no sense
/// source    torch.optim.lr_scheduler.PolynomialLR
/// example   optimizer.schedule(train::polynomial_lr{.total_iters = 100, .power = 0.9}, epoch);
struct polynomial_lr {
  index total_iters = 5;
  double power = 1;

  double operator()(double first, index step) const {
    check_option("polynomial_lr", "total_iters", total_iters, 1), check_option("polynomial_lr", "power", power, 0);
    const double share = step >= total_iters ? 1 : static_cast<double>(step) / static_cast<double>(total_iters);
    return first * std::pow(1 - share, power);
  }
};

/// The rate times `factor` for `total_iters` steps, then the rate itself.
/// throws    error for options that make no sense
/// source    torch.optim.lr_scheduler.ConstantLR
struct constant_lr {
  double factor = 1.0 / 3;
  index total_iters = 5;

  double operator()(double first, index step) const {
    check_share("constant_lr", "factor", factor), check_option("constant_lr", "total_iters", total_iters, 0);
    return step < total_iters ? first * factor : first;
  }
};

/// Warm-up: the rate times a factor that goes from `start_factor` to `end_factor` in a line, over `total_iters` steps.
/// throws    error for options that make no sense
/// source    torch.optim.lr_scheduler.LinearLR
struct linear_lr {
  double start_factor = 1.0 / 3;
  double end_factor = 1;
  index total_iters = 5;

  double operator()(double first, index step) const {
    check_option("linear_lr", "start_factor", start_factor, 0), check_option("linear_lr", "end_factor", end_factor, 0);
    check_option("linear_lr", "total_iters", total_iters, 0);
    const double share =
        step >= total_iters ? 1 : static_cast<double>(step) / static_cast<double>(total_iters);  // of 0 steps too
    return first * (start_factor + (end_factor - start_factor) * share);
  }
};

/// One schedule up to step `milestone`, then another, whose steps count from there. Momentum is left to the one whose
/// step it is.
/// throws    error for options that make no sense
/// source    torch.optim.lr_scheduler.SequentialLR
/// example   train::sequential_lr{train::linear_lr{.total_iters = 500}, 500, train::cosine_annealing_lr{.t_max = 9500}}
template <class Before, class After>
struct sequential_lr {
  Before before;
  index milestone;
  After after;

  double operator()(double first, index step) const {
    check_option("sequential_lr", "milestone", milestone, 0);
    return step < milestone ? before(first, step) : after(first, step - milestone);
  }
  /// Sets the momentum that the schedule of this step wants, if it wants one.
  template <class Options>
  void set_momentum(Options& options, index step) const {
    check_option("sequential_lr", "milestone", milestone, 0);
    if (step < milestone) {
      if constexpr (requires { before.set_momentum(options, step); }) before.set_momentum(options, step);
    } else {
      if constexpr (requires { after.set_momentum(options, step); }) after.set_momentum(options, step - milestone);
    }
  }
};
template <class Before, class After>
sequential_lr(Before, index, After) -> sequential_lr<Before, After>;

/// How one_cycle_lr goes from one rate to the next.
enum class annealing { cos, linear };

/// Raises the rate from max_lr / div_factor to max_lr, then lowers it to far less, within `total_steps`; momentum, or
/// the first of betas, goes the other way. The rates that the optimizer began with do not matter. Where pct_start
/// leaves one step to go up, the first rate is max_lr.
/// throws    error for options that make no sense
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
  void check_options() const {
    constexpr double least_factor = 1e-6;
    check_option("one_cycle_lr", "max_lr", max_lr, 0), check_option("one_cycle_lr", "total_steps", total_steps, 1);
    check_share("one_cycle_lr", "pct_start", pct_start);
    check_option("one_cycle_lr", "div_factor", div_factor, least_factor);
    check_option("one_cycle_lr", "final_div_factor", final_div_factor, least_factor);
    check_option("one_cycle_lr", "base_momentum", base_momentum, 0);
    check_option("one_cycle_lr", "max_momentum", max_momentum, 0);
  }
  /// At the ends of the phases are these values. A phase of no steps is at its end.
  double at(index step, const array<double, 4>& values) const {
    check_options();
    const double last = static_cast<double>(total_steps) - 1, rise = pct_start * static_cast<double>(total_steps) - 1;
    const array<double, 4> ends{{0, rise, three_phase ? 2 * rise : last, last}};
    const double position = static_cast<double>(step) < last ? static_cast<double>(step) : last;
    const int phase = position <= ends[1] ? 0 : position <= ends[2] ? 1 : 2;
    const double length = ends[phase + 1] - ends[phase];  // as good as none, where pct_start is no exact share
    const double share = length < 1e-9 ? 1 : (position - ends[phase]) / length;
    if (anneal_strategy == annealing::cos) return detail::along_cosine(values[phase], values[phase + 1], share);
    return values[phase] + (values[phase + 1] - values[phase]) * share;
  }
};

}  // namespace tenon::train
