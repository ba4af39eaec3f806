// tests/data/weighted_sampler.cpp: examples drawn by weight.
// Counts follow the weights, what weighs nothing never comes, and without replacement nothing comes twice.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/weighted_sampler.hpp>

#include <limits>

#include "support/text_of.hpp"

using tenon::data::weighted_sampler;

TEST_CASE("examples come as often as their weights say", "[weighted_sampler]") {
  const weighted_sampler sampler({0, 1, 3, 0, 6, 0}, 10000);
  const auto order = sampler.order(2, 5);
  REQUIRE(static_cast<tenon::index>(order.size()) == sampler.size());
  std::vector<int> counts(6);
  for (const tenon::index number : order) ++counts.at(static_cast<std::size_t>(number));
  CHECK(counts[0] + counts[3] + counts[5] == 0);
  CHECK(std::abs(counts[1] - 1000) < 150);  // five standard deviations
  CHECK(std::abs(counts[2] - 3000) < 230);
  CHECK(std::abs(counts[4] - 6000) < 245);
  CHECK(order == sampler.order(2, 5));
  CHECK(order != sampler.order(2, 6));
}

TEST_CASE("without replacement examples come once, the heavy ones first", "[weighted_sampler]") {
  const weighted_sampler sampler({1, 0, 1, 8}, 3, false);
  int heavy_first = 0;
  for (tenon::index epoch = 0; epoch < 1000; ++epoch) {
    auto order = sampler.order(1, epoch);
    heavy_first += order[0] == 3 ? 1 : 0;
    std::sort(order.begin(), order.end());
    CHECK(order == std::vector<tenon::index>{0, 2, 3});
  }
  CHECK(std::abs(heavy_first - 800) < 64);
}

TEST_CASE("weights that make no sense are refused", "[weighted_sampler]") {
  const auto text = [](std::vector<double> weights, tenon::index draws, bool replacement) {
    return tenon_test::text_of<tenon::error>([&] { weighted_sampler(weights, draws, replacement); });
  };
  CHECK(text({1, -1}, 1, true) == "weighted_sampler: weight 1: -1, expected finite, at least 0");
  CHECK(tenon_test::has(text({std::numeric_limits<double>::quiet_NaN()}, 1, true), "weight 0: "));
  CHECK(tenon_test::has(text({std::numeric_limits<double>::infinity()}, 1, true), "weight 0: inf"));
  CHECK(text({0, 0}, 1, true) ==
        "weighted_sampler: 1 draws of 0 positive weights, expected at least 0 and a positive weight");
  CHECK(text({1, 0, 2}, 3, false) ==
        "weighted_sampler: 3 draws of 2 positive weights without replacement, expected at least 0 and no more than "
        "these");
  CHECK(weighted_sampler({}, 0).order(0, 0).empty());
}
