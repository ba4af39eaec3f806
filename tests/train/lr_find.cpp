// tests/train/lr_find.cpp: rates that rise until the loss diverges.
// A parabola shows by hand where its steps fall fastest, and that nothing but the rates is put back.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/lr_find.hpp>

#include <algorithm>
#include <limits>
#include <tenon/train/sgd.hpp>

#include "support/catch.hpp"
#include "support/optimizer.hpp"
#include "support/text_of.hpp"

namespace {

/// Steps of gradient descent on the mean of x * x of all parameters.
struct on_parabola {
  tenon_test::loose_parameters<tenon::host> net{{50}};
  tenon::train::sgd<> optimizer{{.lr = 0.125}};

  double step() {
    auto& x = net.all[0];
    x.gradient = 2 * x.value;
    const double loss = static_cast<double>(tenon::mean(tenon::square(x.value)));
    optimizer.step(net);
    return loss;
  }
};

}  // namespace

TEST_CASE("rates rise by one factor until the loss diverges", "[lr_find]") {
  on_parabola training;
  int steps = 0;
  const auto found = tenon::train::lr_find(training.optimizer, [&] { return ++steps, training.step(); },
                                           {.start = 1e-4, .end = 1e4, .steps = 81, .beta = 0});
  REQUIRE(found.rates.size() == found.losses.size());
  CHECK(steps == static_cast<int>(found.rates.size()));
  CHECK(steps < 81);
  CHECK(found.losses.back() > 4 * *std::min_element(found.losses.begin(), found.losses.end()));
  for (std::size_t i = 0; i < found.rates.size(); ++i) {
    const double expected = 1e-4 * std::pow(10, 0.1 * static_cast<double>(i));
    CHECK(std::abs(found.rates[i] - expected) < 1e-9 * expected);
  }
  REQUIRE(found.suggestion.has_value());
  std::size_t at = 10;  // where the loss falls most from the step before to the one behind
  for (std::size_t i = 10; i + 2 < found.losses.size(); ++i) {
    const auto fall = [&](std::size_t j) { return found.losses[j - 1] - found.losses[j + 1]; };
    if (fall(i) > fall(at)) at = i;
  }
  CHECK(*found.suggestion == found.rates[at]);
  CHECK(training.optimizer.options().lr == 0.125);
  CHECK(training.optimizer.steps() == steps);  // what it remembers is as the last step left it
}

TEST_CASE("losses are averages that begin right", "[lr_find]") {
  on_parabola training;
  double next = 0;
  const auto found =
      tenon::train::lr_find(training.optimizer, [&] { return next += 1; }, {.steps = 3, .beta = 0.5, .diverged = 100});
  REQUIRE(found.losses.size() == 3);
  CHECK(std::abs(found.losses[0] - 1) < 1e-12);
  CHECK(std::abs(found.losses[1] - 5.0 / 3) < 1e-12);
  CHECK(std::abs(found.losses[2] - 17.0 / 7) < 1e-12);
  CHECK_FALSE(found.suggestion.has_value());
}

TEST_CASE("a loss that is not finite ends the test, and so does an exception", "[lr_find]") {
  on_parabola training;
  int steps = 0;
  const auto found = tenon::train::lr_find(
      training.optimizer, [&] { return ++steps == 5 ? std::numeric_limits<double>::quiet_NaN() : 1.0; });
  CHECK(found.losses.size() == 4);
  CHECK_THROWS_AS(tenon::train::lr_find(training.optimizer, []() -> double { throw tenon::error("no data"); }),
                  tenon::error);
  CHECK(training.optimizer.options().lr == 0.125);
}

TEST_CASE("rates that cannot rise are refused", "[lr_find]") {
  on_parabola training;
  const auto refused = [&](const tenon::train::lr_find_options& options) {
    return tenon_test::text_of<tenon::error>(
        [&] { tenon::train::lr_find(training.optimizer, [] { return 1.0; }, options); });
  };
  CHECK(refused({.start = 0}).find("lr_find: rates from 0") == 0);
  CHECK(refused({.start = 1, .end = 1}) != "");
  CHECK(refused({.steps = 1}) != "");
  CHECK(refused({.beta = 1}) != "");
  const double infinite = std::numeric_limits<double>::infinity(), nan = std::nan("");
  CHECK(refused({.end = infinite}) == "lr_find: end: inf, expected a finite number");
  CHECK(refused({.end = nan}) == "lr_find: end: nan, expected a finite number");
  CHECK(refused({.diverged = 0}) == "lr_find: diverged: 0, expected at least 1");
  CHECK(refused({.diverged = -4}) == "lr_find: diverged: -4, expected at least 1");
  CHECK(refused({.diverged = nan}) == "lr_find: diverged: nan, expected at least 1");
  CHECK_NOTHROW(tenon::train::lr_find(training.optimizer, [] { return 1.0; }, {.diverged = infinite}));
}

TEST_CASE("rates stay finite from the least to the greatest", "[lr_find]") {
  on_parabola training;
  const double least = std::numeric_limits<double>::min(), greatest = std::numeric_limits<double>::max();
  const auto found =
      tenon::train::lr_find(training.optimizer, [] { return 1.0; }, {.start = least, .end = greatest, .steps = 9});
  REQUIRE(found.rates.size() == 9);
  CHECK(found.rates.front() == least);
  CHECK(found.rates.back() == greatest);
  CHECK(std::abs(found.rates[4] - 2) < 1e-9);
}
