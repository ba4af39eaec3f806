// tests/data/random_draws.cpp: the random numbers of one example.
// The same for the same seed, epoch and example; others for any other, and uniform.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/random_draws.hpp>

#include <cmath>
#include <set>

#include "support/text_of.hpp"

using tenon::data::random_draws;

TEST_CASE("draws depend on seed, epoch and example alone", "[random_draws]") {
  std::set<std::uint64_t> seen;
  const tenon::index far = tenon::index{1} << 32;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32}) {
    for (const tenon::index number : {tenon::index{0}, tenon::index{1}, far}) {
      for (const tenon::index epoch : {0, 1}) {
        random_draws first(seed, {number, epoch}), again(seed, {number, epoch});
        for (int i = 0; i < 3; ++i) {
          const std::uint64_t bits = first.bits();
          CHECK(bits == again.bits());
          CHECK(seen.insert(bits).second);
        }
      }
    }
  }
}

TEST_CASE("draws are uniform within their bounds", "[random_draws]") {
  random_draws draws(3, {17, 2});
  int counts[5] = {}, hits = 0;
  double total = 0;
  for (int i = 0; i < 5000; ++i) {
    const double x = draws.uniform(-2, 6);
    CHECK((x >= -2 && x < 6));
    total += x;
    ++counts[draws.below(5)];
    hits += draws.chance(0.25) ? 1 : 0;
  }
  CHECK(std::abs(total / 5000 - 2) < 0.16);  // five standard deviations, as below
  for (const int count : counts) CHECK(std::abs(count - 1000) < 142);
  CHECK(std::abs(hits - 1250) < 153);
}

TEST_CASE("a draw among none is refused", "[random_draws]") {
  CHECK(tenon_test::text_of<tenon::index_error>([] { random_draws(0, 0).below(0); }) ==
        "random_draws: below: 0, expected at least 1");
}
