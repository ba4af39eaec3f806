// tests/distributed/gradient_layout.cpp: gradients in the order of a backward pass, in buckets.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/distributed/gradient_layout.hpp>

#include "support/catch.hpp"

using tenon::distributed::gradient_layout;
using tenon::distributed::gradient_place;

TEST_CASE("the last layer comes first, and what has no number last", "[gradient_layout]") {
  const gradient_layout layout({{"scale", 2}, {"0.weight", 6}, {"0.bias", 3}, {"10.0.weight", 5}, {"2.bias", 1}}, 8, 3);
  std::vector<int> parameters, layers;
  std::vector<tenon::index> firsts;
  for (const auto& each : layout.places()) {
    parameters.push_back(each.parameter), layers.push_back(each.layer), firsts.push_back(each.first);
  }
  CHECK(parameters == std::vector<int>{3, 4, 1, 2, 0});
  CHECK(layers == std::vector<int>{10, 2, 0, 0, gradient_place::no_layer});
  CHECK(firsts == std::vector<tenon::index>{3, 8, 9, 15, 18});
  CHECK(layout.elements() == 20);
  REQUIRE(layout.buckets().size() == 3);
  CHECK(layout.buckets()[0].count == 8);
  CHECK(layout.buckets()[1].first == 8);
  CHECK(layout.buckets()[1].count == 10);
  CHECK(layout.buckets()[2].first == 18);
  CHECK(layout.buckets()[2].places == 5);
}

TEST_CASE("a layout of nothing is what leads it", "[gradient_layout]") {
  const gradient_layout layout({}, 8, 3);
  CHECK(layout.elements() == 3);
  REQUIRE(layout.buckets().size() == 1);
  CHECK(layout.buckets()[0].count == 3);
  const gradient_layout names({{".bias", 1}, {"weight", 1}, {"1a.weight", 1}}, 1, 0);
  CHECK(names.places()[0].layer == gradient_place::no_layer);
  CHECK(names.buckets().size() == 3);
}
