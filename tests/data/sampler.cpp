// tests/data/sampler.cpp: the order of examples.
// Every example once, the same for the same seed and epoch, and no place preferred.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/sampler.hpp>

#include <algorithm>

#include "support/text_of.hpp"

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

TEST_CASE("samplers give orders by seed and epoch", "[sampler]") {
  STATIC_REQUIRE(tenon::data::sampler<tenon::data::sequential_sampler>);
  CHECK(tenon::data::sequential_sampler{3}.order(1, 2) == sequential_order(3));
  CHECK(tenon::data::random_sampler{50}.order(5, 3) == shuffled_order(50, 5, 3));
  CHECK(tenon::data::random_sampler{50}.size() == 50);
}

TEST_CASE("examples drawn with replacement come again", "[sampler]") {
  const tenon::data::replacement_sampler sampler{7, 7000};
  const auto order = sampler.order(3, 1);
  REQUIRE(static_cast<tenon::index>(order.size()) == sampler.size());
  std::vector<int> counts(7);
  for (const tenon::index number : order) ++counts.at(static_cast<std::size_t>(number));
  for (const int count : counts) CHECK(std::abs(count - 1000) < 150);  // five standard deviations
  CHECK(order == sampler.order(3, 1));
  CHECK(order != sampler.order(3, 2));
  CHECK(order != sampler.order(4, 1));
}

TEST_CASE("samplers of no sense are refused by name", "[sampler]") {
  const auto refusal = [](const auto& sampler) {
    const auto text = tenon_test::text_of<tenon::index_error>([&] { sampler.size(); });
    CHECK(tenon_test::text_of<tenon::index_error>([&] { sampler.order(0, 0); }) == text);
    return text;
  };
  CHECK(refusal(tenon::data::sequential_sampler{-1}) == "sequential_sampler: count: -1, expected at least 0");
  CHECK(refusal(tenon::data::random_sampler{-1}) == "random_sampler: count: -1, expected at least 0");
  CHECK(refusal(tenon::data::replacement_sampler{0, 5}) == "replacement_sampler: count: 0, expected at least 1");
  CHECK(refusal(tenon::data::replacement_sampler{5, -1}) == "replacement_sampler: draws: -1, expected at least 0");
  CHECK(tenon::data::replacement_sampler{}.order(0, 0).empty());
}

TEST_CASE("the shards of all ranks are the whole, in turns", "[sampler]") {
  const auto whole = shuffled_order(10, 5, 3);
  const auto part = [](tenon::index rank, bool drop_uneven) {
    return tenon::data::sharded_sampler(tenon::data::random_sampler{10}, {rank, 3, drop_uneven});
  };
  for (tenon::index rank = 0; rank < 3; ++rank) {
    const auto uneven = part(rank, false).order(5, 3), even = part(rank, true).order(5, 3);
    REQUIRE(uneven.size() == 4);
    REQUIRE(even.size() == 3);
    CHECK(part(rank, false).size() == 4);
    CHECK(part(rank, true).size() == 3);
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t place = 3 * i + static_cast<std::size_t>(rank);
      CHECK(uneven[i] == whole[place % 10]);  // the first are seen again
      if (i < 3) CHECK(even[i] == whole[place]);
    }
  }
}

TEST_CASE("shards of few examples, and of none", "[sampler]") {
  const tenon::data::sharded_sampler few(tenon::data::sequential_sampler{2}, {4, 5});
  CHECK(few.order(0, 0) == std::vector<tenon::index>{0});
  const tenon::data::sharded_sampler none(tenon::data::sequential_sampler{0}, {1, 2});
  CHECK(none.order(0, 0).empty());
  CHECK(tenon_test::text_of<tenon::shape_error>([] {
          const tenon::data::sharded_sampler refused(tenon::data::sequential_sampler{2}, {3, 3});
        }) == "sharded_sampler: rank 3 of 3, expected at least 0 and below the ranks");
}
