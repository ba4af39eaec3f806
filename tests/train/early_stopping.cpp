// tests/train/early_stopping.cpp: when training stops.
// Patience, least differences and both directions; NaN is never better.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/early_stopping.hpp>
#include <vector>

#include "support/catch.hpp"

namespace {

using tenon::train::early_stopping_options;

/// How many measures are taken before it stops; -1 where it does not.
int stops_after(const early_stopping_options& options, const std::vector<double>& measures) {
  tenon::train::early_stopping stopping(options);
  for (std::size_t i = 0; i < measures.size(); ++i) {
    stopping.observe(measures[i]);
    if (stopping.should_stop()) return static_cast<int>(i) + 1;
  }
  return -1;
}

}  // namespace

TEST_CASE("training stops after so many measures that are no better", "[early_stopping]") {
  CHECK(stops_after({.patience = 2}, {3, 2, 2, 2, 1}) == 4);
  CHECK(stops_after({.patience = 2}, {3, 2, 2, 1, 1, 1}) == 6);
  CHECK(stops_after({.patience = 0}, {3, 2, 2}) == 3);
  CHECK(stops_after({.patience = 1}, {3, 2, 1}) == -1);
  CHECK(stops_after({.patience = 2, .mode = tenon::train::better::max}, {1, 2, 2, 1}) == 4);
}

TEST_CASE("a measure has to be better by the least difference", "[early_stopping]") {
  CHECK(stops_after({.patience = 1, .min_delta = 0.5}, {3, 2.5}) == 2);
  CHECK(stops_after({.patience = 1, .min_delta = 0.5}, {3, 2.25}) == -1);
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  CHECK(stops_after({.patience = 2}, {nothing, nothing}) == 2);
  CHECK_THROWS_AS(tenon::train::early_stopping({.min_delta = nothing}), tenon::error);
  CHECK_THROWS_AS(tenon::train::early_stopping({.min_delta = -1}), tenon::error);
  CHECK_THROWS_AS(tenon::train::early_stopping({.patience = -1}), tenon::error);
}

TEST_CASE("the best measure is told and remembered", "[early_stopping]") {
  tenon::train::early_stopping stopping({.patience = 5}), again({.patience = 5});
  CHECK(stopping.observe(3));
  CHECK_FALSE(stopping.observe(4));
  CHECK(stopping.observe(2.5));
  CHECK_FALSE(stopping.observe(2.5));
  CHECK(stopping.best() == 2.5);
  int network = 0;
  std::vector<double> kept;
  stopping.visit_state(network, [&](const std::string&, auto& each) {
    if constexpr (requires { static_cast<double>(each); }) kept.push_back(static_cast<double>(each));
    else CHECK(each.text() == "min");
  });
  CHECK(kept == std::vector<double>{2.5, 1});
}
