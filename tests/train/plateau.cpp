// tests/train/plateau.cpp: learning rates that fall when a measure stops getting better.
// Patience, cooldown, thresholds of both kinds and both directions, and the least rate.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/plateau.hpp>
#include <vector>

#include "support/text_of.hpp"

namespace {

using tenon::train::plateau_options;

/// The rate, at first 1, after each measure.
std::vector<double> rates_after(const plateau_options& options, const std::vector<double>& measures) {
  tenon::train::reduce_lr_on_plateau plateau(options);
  std::vector<double> rates;
  for (const double each : measures) {
    plateau.observe(each);
    rates.push_back(plateau(1, 0));
  }
  return rates;
}
using plateau_rates = std::vector<double>;

}  // namespace

TEST_CASE("rates fall after more bad measures than patience", "[plateau]") {
  CHECK(rates_after({.factor = 0.5, .patience = 1}, {3, 2, 2, 2, 2, 2}) == plateau_rates{1, 1, 1, 0.5, 0.5, 0.25});
  CHECK(rates_after({.factor = 0.5, .patience = 0}, {3, 4, 2, 2}) == plateau_rates{1, 0.5, 0.5, 0.25});
  CHECK(rates_after({.factor = 0.5, .patience = 0, .cooldown = 2}, {3, 3, 3, 3, 3}) ==
        plateau_rates{1, 0.5, 0.5, 0.5, 0.25});
  CHECK(rates_after({.mode = tenon::train::better::max, .factor = 0.5, .patience = 0}, {1, 2, 2, 3, 1}) ==
        plateau_rates{1, 1, 0.5, 0.5, 0.25});
}

TEST_CASE("a measure has to be better by the threshold", "[plateau]") {
  plateau_options options{.factor = 0.5, .patience = 0, .threshold = 0.1};
  CHECK(rates_after(options, {10, 9.5, 8.9}) == plateau_rates{1, 0.5, 0.5});
  options.threshold_mode = tenon::train::threshold_kind::abs;
  CHECK(rates_after(options, {10, 9.95, 9.85}) == plateau_rates{1, 0.5, 0.5});
  options.mode = tenon::train::better::max;
  CHECK(rates_after(options, {10, 10.05, 10.15}) == plateau_rates{1, 0.5, 0.5});
  const double nothing = 0.0 / (options.threshold - options.threshold);
  CHECK(rates_after(options, {nothing, 1, nothing}) == plateau_rates{0.5, 0.5, 0.25});
}

TEST_CASE("rates do not fall below the least, nor by next to nothing", "[plateau]") {
  CHECK(rates_after({.factor = 0.5, .patience = 0, .min_lr = 0.375}, {1, 1, 1, 1}) ==
        plateau_rates{1, 0.5, 0.375, 0.375});
  CHECK(rates_after({.factor = 0.5, .patience = 0, .eps = 0.5}, {1, 1, 1}) == plateau_rates{1, 1, 1});
}

TEST_CASE("options of a plateau that make no sense are refused", "[plateau]") {
  const auto text = [](const plateau_options& options) {
    return tenon_test::text_of<tenon::error>([&] { tenon::train::reduce_lr_on_plateau{options}; });
  };
  CHECK(text({.factor = 1}) == "reduce_lr_on_plateau: factor: 1, expected at least 0 and below 1");
  CHECK(text({.patience = -1}) == "reduce_lr_on_plateau: patience: -1, expected at least 0");
  CHECK(text({.threshold = std::nan("")}) == "reduce_lr_on_plateau: threshold: nan, expected a finite number");
  CHECK(text({.min_lr = -1}) == "reduce_lr_on_plateau: min_lr: -1, expected at least 0");
}
