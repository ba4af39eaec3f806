// tests/data/sampler.cpp: the order of examples.
// Every example once, the same for the same seed and epoch, and no place preferred.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/sampler.hpp>

#include <algorithm>

#include "support/catch.hpp"

using tenon::data::sequential_order;
using tenon::data::shuffled_order;

TEST_CASE("the sequential order counts up", "[sampler]") {
  CHECK(sequential_order(4) == std::vector<tenon::index>{0, 1, 2, 3});
  CHECK(sequential_order(0).empty());
}

TEST_CASE("a shuffled order holds every example once", "[sampler]") {
  for (const tenon::index count : {0, 1, 2, 257}) {
    auto order = shuffled_order(count, 5, 3);
    std::sort(order.begin(), order.end());
    CHECK(order == sequential_order(count));
  }
}

TEST_CASE("a shuffled order depends on seed and epoch alone", "[sampler]") {
  CHECK(shuffled_order(100, 5, 3) == shuffled_order(100, 5, 3));
  CHECK(shuffled_order(100, 5, 3) != shuffled_order(100, 5, 4));
  CHECK(shuffled_order(100, 5, 3) != shuffled_order(100, 6, 3));
  CHECK(shuffled_order(100, 5, 0) != shuffled_order(100, 5 + (std::uint64_t{1} << 32), 0));
}

TEST_CASE("every permutation of three is as likely as any other", "[sampler]") {
  int counts[27] = {};
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    const auto order = shuffled_order(3, seed, 0);
    ++counts[order[0] * 9 + order[1] * 3 + order[2]];
  }
  int seen = 0;
  double chi_squared = 0;  // five degrees of freedom: above 20.5 once in a thousand
  for (const int count : counts) {
    if (count == 0) continue;
    ++seen;
    chi_squared += (count - 1000.0) * (count - 1000.0) / 1000.0;
  }
  CHECK(seen == 6);
  CHECK(chi_squared < 20.5);
}
