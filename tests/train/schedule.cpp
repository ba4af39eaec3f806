// tests/train/schedule.cpp: learning rates over the steps.
// Values that PyTorch gives, at the ends, in the middle and beyond.
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <tenon/train/adam.hpp>
#include <tenon/train/rmsprop.hpp>
#include <tenon/train/schedule.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::train::annealing;
using tenon::train::one_cycle_lr;

/// The rates of steps 0 to `count` - 1.
template <class Schedule>
std::vector<double> rates_of(const Schedule& schedule, double first, int count) {
  std::vector<double> rates;
  for (int step = 0; step < count; ++step) rates.push_back(schedule(first, step));
  return rates;
}
bool are_rates(const std::vector<double>& found, const std::vector<double>& expected) {
  bool same = found.size() == expected.size();
  for (std::size_t i = 0; same && i < found.size(); ++i) same = std::fabs(found[i] - expected[i]) <= 1e-12;
  return same;
}

}  // namespace

TEST_CASE("rates fall at steps", "[schedule]") {
  CHECK(are_rates(rates_of(tenon::train::step_lr{.step_size = 2}, 1, 6), {1, 1, 0.1, 0.1, 0.01, 0.01}));
  CHECK(are_rates(rates_of(tenon::train::step_lr{.step_size = 3, .gamma = 0.5}, 4, 5), {4, 4, 4, 2, 2}));
  CHECK(are_rates(rates_of(tenon::train::multi_step_lr{.milestones = {1, 4}}, 1, 6), {1, 0.1, 0.1, 0.1, 0.01, 0.01}));
  CHECK(are_rates(rates_of(tenon::train::multi_step_lr{.milestones = {}}, 0.5, 2), {0.5, 0.5}));
  CHECK(are_rates(rates_of(tenon::train::exponential_lr{.gamma = 0.5}, 2, 4), {2, 1, 0.5, 0.25}));
}

TEST_CASE("a cosine falls from its first rate, and rises beyond", "[schedule]") {
  const tenon::train::cosine_annealing_lr to_zero{.t_max = 4}, above{.t_max = 2, .eta_min = 0.5};
  CHECK(are_rates(rates_of(to_zero, 1, 6), {1, 0.5 + std::sqrt(0.125), 0.5, 0.5 - std::sqrt(0.125), 0,  //
                                            0.5 - std::sqrt(0.125)}));
  CHECK(are_rates(rates_of(above, 1.5, 3), {1.5, 1, 0.5}));
}

TEST_CASE("rates rise on a line, and another schedule follows", "[schedule]") {
  CHECK(are_rates(rates_of(tenon::train::linear_lr{}, 3, 7), {1, 1.4, 1.8, 2.2, 2.6, 3, 3}));
  CHECK(are_rates(rates_of(tenon::train::linear_lr{.start_factor = 0, .total_iters = 0}, 3, 2), {3, 3}));
  const tenon::train::sequential_lr both{tenon::train::linear_lr{.start_factor = 0.5, .total_iters = 2}, 2,
                                         tenon::train::step_lr{.step_size = 1}};
  CHECK(are_rates(rates_of(both, 1, 5), {0.5, 0.75, 1, 0.1, 0.01}));
}

TEST_CASE("a cosine begins anew, after more and more steps", "[schedule]") {
  for (const int t_mult : {1, 2, 3}) {
    const tenon::train::cosine_annealing_warm_restarts schedule{.t_0 = 3, .t_mult = t_mult, .eta_min = 0.25};
    std::vector<double> expected;
    for (int step = 0, current = 0, length = 3; step < 30; ++step, ++current) {
      if (current >= length) current -= length, length *= t_mult;
      expected.push_back(0.25 + (2 - 0.25) * (1 + std::cos(std::acos(-1.0) * current / length)) / 2);
    }
    CHECK(are_rates(rates_of(schedule, 2, 30), expected));
  }
  const tenon::index far = std::numeric_limits<tenon::index>::max();
  CHECK(std::fabs(tenon::train::cosine_annealing_warm_restarts{.t_0 = 2}(1, far) - 0.5) < 1e-12);
  CHECK(std::isfinite(tenon::train::cosine_annealing_warm_restarts{.t_0 = 2, .t_mult = far}(1, far)));
}

TEST_CASE("a rate falls to 0 by a power", "[schedule]") {
  for (const double power : {1.0, 0.9, 2.0}) {
    std::vector<double> expected;
    double rate = 0.5;
    for (int step = 0; step < 8; ++step) {  // PyTorch's rule from each rate to the next
      if (step > 0 && step <= 5) rate *= std::pow((1 - step / 5.0) / (1 - (step - 1) / 5.0), power);
      expected.push_back(rate);
    }
    CHECK(are_rates(rates_of(tenon::train::polynomial_lr{.total_iters = 5, .power = power}, 0.5, 8), expected));
  }
  CHECK(are_rates(rates_of(tenon::train::polynomial_lr{}, 1, 3), {1, 0.8, 0.6}));
}

TEST_CASE("a rate is less for some steps", "[schedule]") {
  std::vector<double> expected;
  for (int step = 0; step < 6; ++step) expected.push_back(2 * (0.25 + (step >= 4 ? 1 : 0) * (1 - 0.25)));
  CHECK(are_rates(rates_of(tenon::train::constant_lr{.factor = 0.25, .total_iters = 4}, 2, 6), expected));
  CHECK(are_rates(rates_of(tenon::train::constant_lr{}, 3, 6), {1, 1, 1, 1, 1, 3}));
  CHECK(are_rates(rates_of(tenon::train::constant_lr{.total_iters = 0}, 3, 2), {3, 3}));
}

TEST_CASE("one cycle rises and falls", "[schedule]") {
  const one_cycle_lr line{
      .max_lr = 1, .total_steps = 10, .anneal_strategy = annealing::linear, .div_factor = 4, .final_div_factor = 10};
  const double low = 0.25, end = 0.025, fall = (1 - end) / 7;
  CHECK(are_rates(rates_of(line, 77, 11), {low, 0.625, 1, 1 - fall, 1 - 2 * fall, 1 - 3 * fall, 1 - 4 * fall,
                                           1 - 5 * fall, 1 - 6 * fall, end, end}));
  const one_cycle_lr curve{.max_lr = 1, .total_steps = 10};
  const double first = 1 / 25.0;
  CHECK(std::fabs(curve(0, 1) - (first + 1) / 2) < 1e-12);
  CHECK(std::fabs(curve(0, 9) - first / 1e4) < 1e-12);
  one_cycle_lr thrice = line;
  thrice.three_phase = true;
  CHECK(are_rates(rates_of(thrice, 77, 5), {low, 0.625, 1, 0.625, low}));
  CHECK(std::fabs(thrice(0, 9) - end) < 1e-12);
}

TEST_CASE("one cycle without steps that go up begins at its greatest rate", "[schedule]") {
  one_cycle_lr cycle{.max_lr = 1, .total_steps = 10, .pct_start = 0.1, .anneal_strategy = annealing::linear};
  const double end = 1 / 25.0 / 1e4;
  CHECK(cycle(0, 0) == 1);
  CHECK(std::fabs(cycle(0, 1) - (1 - (1 - end) / 9)) < 1e-12);
  CHECK(std::fabs(cycle(0, 9) - end) < 1e-12);
  cycle.three_phase = true;
  CHECK(cycle(0, 0) == 1);
  cycle.pct_start = 0;  // as PyTorch has it, where it goes down from step -1 on
  cycle.three_phase = false;
  CHECK(std::fabs(cycle(0, 0) - (1 - (1 - end) / 10)) < 1e-12);
  CHECK(one_cycle_lr{.max_lr = 1, .total_steps = 1, .pct_start = 1}(0, 0) == 1);
}

TEST_CASE("schedules refuse options that make no sense by name", "[schedule]") {
  namespace train = tenon::train;
  const auto text = [](const auto& schedule) { return tenon_test::text_of<tenon::error>([&] { schedule(1.0, 0); }); };
  const double nan = std::nan("");
  CHECK(text(train::step_lr{.step_size = 0}) == "step_lr: step_size: 0, expected at least 1");
  CHECK(text(train::step_lr{.step_size = 1, .gamma = nan}) == "step_lr: gamma: nan, expected at least 0");
  CHECK(text(train::multi_step_lr{.milestones = {1}, .gamma = -1}) == "multi_step_lr: gamma: -1, expected at least 0");
  CHECK(text(train::multi_step_lr{.milestones = {1, -3}}) == "multi_step_lr: milestones: -3, expected at least 0");
  CHECK(text(train::exponential_lr{.gamma = nan}) == "exponential_lr: gamma: nan, expected at least 0");
  CHECK(text(train::cosine_annealing_lr{.t_max = 0}) == "cosine_annealing_lr: t_max: 0, expected at least 1");
  CHECK(text(train::cosine_annealing_lr{.t_max = 1, .eta_min = -1}) ==
        "cosine_annealing_lr: eta_min: -1, expected at least 0");
  using restarts = train::cosine_annealing_warm_restarts;
  CHECK(text(restarts{.t_0 = 0}) == "cosine_annealing_warm_restarts: t_0: 0, expected at least 1");
  CHECK(text(restarts{.t_0 = 1, .t_mult = 0}) == "cosine_annealing_warm_restarts: t_mult: 0, expected at least 1");
  CHECK(text(restarts{.t_0 = 1, .eta_min = nan}) ==
        "cosine_annealing_warm_restarts: eta_min: nan, expected at least 0");
  CHECK(text(train::polynomial_lr{.total_iters = 0}) == "polynomial_lr: total_iters: 0, expected at least 1");
  CHECK(text(train::polynomial_lr{.power = -1}) == "polynomial_lr: power: -1, expected at least 0");
  CHECK(text(train::constant_lr{.factor = 2}) == "constant_lr: factor: 2, expected at least 0 and at most 1");
  CHECK(text(train::constant_lr{.total_iters = -1}) == "constant_lr: total_iters: -1, expected at least 0");
  CHECK(text(train::linear_lr{.start_factor = nan}) == "linear_lr: start_factor: nan, expected at least 0");
  CHECK(text(train::linear_lr{.end_factor = -1}) == "linear_lr: end_factor: -1, expected at least 0");
  CHECK(text(train::linear_lr{.total_iters = -1}) == "linear_lr: total_iters: -1, expected at least 0");
  CHECK(text(train::sequential_lr{train::linear_lr{}, -1, train::linear_lr{}}) ==
        "sequential_lr: milestone: -1, expected at least 0");
  CHECK(text(one_cycle_lr{.max_lr = nan, .total_steps = 9}) == "one_cycle_lr: max_lr: nan, expected at least 0");
  CHECK(text(one_cycle_lr{.max_lr = 1, .total_steps = 0}) == "one_cycle_lr: total_steps: 0, expected at least 1");
  CHECK(text(one_cycle_lr{.max_lr = 1, .total_steps = 9, .pct_start = -1}) ==
        "one_cycle_lr: pct_start: -1, expected at least 0 and at most 1");
  CHECK(text(one_cycle_lr{.max_lr = 1, .total_steps = 9, .pct_start = 1.5}) ==
        "one_cycle_lr: pct_start: 1.5, expected at least 0 and at most 1");
  CHECK(text(one_cycle_lr{.max_lr = 1, .total_steps = 9, .div_factor = 0}) ==
        "one_cycle_lr: div_factor: 0, expected at least 1e-06");
  CHECK(text(one_cycle_lr{.max_lr = 1, .total_steps = 9, .final_div_factor = 0}) ==
        "one_cycle_lr: final_div_factor: 0, expected at least 1e-06");
  tenon::train::rmsprop_options options;
  const one_cycle_lr cycle{.max_lr = 1, .total_steps = 9, .max_momentum = nan};
  CHECK(tenon_test::text_of<tenon::error>([&] { cycle.set_momentum(options, 0); }) ==
        "one_cycle_lr: max_momentum: nan, expected at least 0");
}

TEST_CASE("one cycle turns momentum round", "[schedule]") {
  const one_cycle_lr cycle{.max_lr = 1, .total_steps = 10, .anneal_strategy = annealing::linear};
  tenon::train::adam_options adam;
  cycle.set_momentum(adam, 0);
  CHECK(adam.betas[0] == 0.95);
  cycle.set_momentum(adam, 2);
  CHECK(std::fabs(adam.betas[0] - 0.85) < 1e-12);
  CHECK(adam.betas[1] == 0.999);
  tenon::train::rmsprop_options rmsprop;
  cycle.set_momentum(rmsprop, 1);
  CHECK(std::fabs(rmsprop.momentum - 0.9) < 1e-12);
  one_cycle_lr still = cycle;
  still.cycle_momentum = false;
  still.set_momentum(rmsprop, 0);
  CHECK(std::fabs(rmsprop.momentum - 0.9) < 1e-12);
}

TEST_CASE("schedules in turn leave momentum to the one whose step it is", "[schedule]") {
  const one_cycle_lr cycle{.max_lr = 1, .total_steps = 10, .anneal_strategy = annealing::linear};
  const tenon::train::linear_lr line{.total_iters = 5};
  tenon::train::adam<> optimizer({.lr = 1});
  const tenon::train::sequential_lr cycle_last{line, 5, cycle};
  optimizer.schedule(cycle_last, 4);
  CHECK(optimizer.options().betas[0] == 0.9);
  optimizer.schedule(cycle_last, 7);
  CHECK(std::fabs(optimizer.options().betas[0] - 0.85) < 1e-12);
  const tenon::train::sequential_lr cycle_first{cycle, 10, line};
  optimizer.schedule(cycle_first, 0);
  CHECK(optimizer.options().betas[0] == 0.95);
  optimizer.schedule(cycle_first, 12);
  CHECK(optimizer.options().betas[0] == 0.95);
  optimizer.schedule(tenon::train::sequential_lr{line, 3, cycle_last}, 10);  // in turn in turn
  CHECK(std::fabs(optimizer.options().betas[0] - 0.85) < 1e-12);
}

TEST_CASE("a function of rate and step is a schedule", "[schedule]") {
  tenon::train::adam<> optimizer({.lr = 1}, {{tenon::train::ends_with("bias"), {.lr = 0.5}}});
  optimizer.schedule([](double first, tenon::index step) { return first / static_cast<double>(1 + step); }, 3);
  CHECK(optimizer.options().lr == 0.25);
  CHECK(optimizer.options(1).lr == 0.125);
}

TEST_CASE("a schedule moves the rates of all groups of an optimizer", "[schedule]") {
  tenon::train::adam<> optimizer({.lr = 1}, {{tenon::train::ends_with("bias"), {.lr = 0.5}}});
  optimizer.schedule(tenon::train::step_lr{.step_size = 1}, 2);
  CHECK(std::fabs(optimizer.options().lr - 0.01) < 1e-15);
  CHECK(std::fabs(optimizer.options(1).lr - 0.005) < 1e-15);
  CHECK(tenon_test::text_of<tenon::error>([&] { optimizer.schedule(tenon::train::step_lr{.step_size = 1}, -1); }) ==
        "optimizer.schedule: step: -1, expected at least 0");
  optimizer.schedule(one_cycle_lr{.max_lr = 1, .total_steps = 10}, 0);
  CHECK(std::fabs(optimizer.options(1).lr - 1 / 25.0) < 1e-15);
  CHECK(optimizer.options(1).betas[0] == 0.95);
}
