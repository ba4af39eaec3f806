// tests/algorithms/fft_plans.cpp: plans are made once for equal numbers, and outlive their being forgotten.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/fft_plans.hpp>

#include <thread>

#include "support/catch.hpp"

TEST_CASE("equal numbers have one plan", "[fft_plans]") {
  tenon::detail::fft_plans<int> plans;
  int made = 0;
  const auto make = [&] { return std::make_shared<int>(++made); };
  CHECK(*plans.of({8, 1}, make) == 1);
  CHECK(*plans.of({8, 1}, make) == 1);
  CHECK(*plans.of({8, 2}, make) == 2);
  CHECK(*plans.of({8}, make) == 3);
  CHECK(plans.count() == 3);
}
TEST_CASE("many plans are forgotten, those in use live on", "[fft_plans]") {
  tenon::detail::fft_plans<int> plans;
  const auto first = plans.of({0}, [] { return std::make_shared<int>(0); });
  for (tenon::index i = 1; i <= static_cast<tenon::index>(plans.most); ++i) {
    plans.of({i}, [&] { return std::make_shared<int>(static_cast<int>(i)); });
  }
  CHECK(plans.count() == 1);
  CHECK(*first == 0);
  CHECK(first.use_count() == 1);
}
TEST_CASE("threads share plans", "[fft_plans]") {
  tenon::detail::fft_plans<int> plans;
  int made = 0;
  const auto ask = [&] {
    for (tenon::index i = 0; i < 200; ++i) plans.of({i % 7}, [&] { return std::make_shared<int>(++made); });
  };
  std::thread beside(ask);
  ask();
  beside.join();
  CHECK(made == 7);
}
