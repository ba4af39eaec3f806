// tests/plan/box_views.cpp: values that are moved within boxes, and boxes that are chosen.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/flip.hpp>
#include <tenon/expr/views/permute.hpp>
#include <tenon/expr/views/split.hpp>
#include <tenon/expressions.hpp>
#include <tenon/plan/box_views.hpp>

#include <vector>

#include "support/box_at.hpp"
#include "support/catch.hpp"

using tenon::axis;
using tenon::dyn;
using tenon::shape;
using tenon::tensor;
using tenon::detail::boxes_of;
using tenon_test::box_at;

TEST_CASE("values of boxes that are moved", "[plan][box]") {
  tensor<double, shape<dyn, 2, 3>> x({5, 2, 3});
  x = tenon::iota<double>({5, 2, 3});
  const auto node = x + 0.0;  // no view of memory
  using list = std::vector<double>;
  CHECK(box_at(tenon::transpose(node), 2) == list{12, 15, 13, 16, 14, 17});
  CHECK(box_at(tenon::flip(node, axis<-1>), 2) == list{14, 13, 12, 17, 16, 15});
  CHECK(box_at(tenon::flip(node, axis<0>), 2) == list{12, 13, 14, 15, 16, 17});
  CHECK(box_at(tenon::flip(node, axis<0>), 3) == list{6, 7, 8, 9, 10, 11});
  CHECK(box_at(tenon::split<3>(node, axis<-1>)[1], 2) == list{13, 16});
  CHECK(box_at(tenon::roll(node, 1, axis<-1>), 2) == list{14, 12, 13, 17, 15, 16});
  CHECK(box_at(tenon::roll(node, 1, axis<1>), 2) == list{15, 16, 17, 12, 13, 14});
  CHECK(box_at(tenon::roll(node, 4, axis<0>), 4) == list{0, 1, 2, 3, 4, 5});
  CHECK(box_at(tenon::concatenate(axis<1>, x, x * 10), 1) == list{6, 7, 8, 9, 10, 11, 60, 70, 80, 90, 100, 110});
  STATIC_REQUIRE_FALSE(boxes_of<decltype(tenon::concatenate(axis<0>, x, x)), 1>::fits);
}

TEST_CASE("values and boxes beside a number", "[plan][box]") {
  tensor<double, shape<dyn, 3>> x({5, 3});
  x = tenon::iota<double>({5, 3});
  using list = std::vector<double>;
  CHECK(box_at(tenon::pad<1, 0>(x, axis<1>, 7), 2) == list{7, 6, 7, 8});
  CHECK(box_at(tenon::pad<0, 1>(x * 2, axis<1>, 7), 2) == list{12, 14, 16, 7});
  CHECK(box_at(tenon::pad<2, 1>(x, axis<1>), 1) == list{0, 0, 3, 4, 5, 0});
  const auto rows = tenon::pad(x, axis<0>, {{{1, 2}}}, -1);
  CHECK(box_at(rows, 1) == list{0, 1, 2});
  CHECK(box_at(rows, 5) == list{12, 13, 14});
  CHECK(box_at(rows, 6) == list{-1, -1, -1});
  CHECK(box_at(tenon::pad<1, 1>(x, axis<0, 1>), 1) == list{0, 0, 1, 2, 0});
  CHECK(box_at(tenon::pad<1, 1>(x, axis<0, 1>), 6) == list{0, 0, 0, 0, 0});
  tensor<double, shape<dyn, 2, 2>> y({5, 2, 2});
  STATIC_REQUIRE_FALSE(boxes_of<decltype(tenon::pad<1, 0>(y, axis<1, 2>)), 1>::fits);
  STATIC_REQUIRE_FALSE(boxes_of<decltype(tenon::pad(x, axis<1>, {{1}})), 1>::fits);
}

TEST_CASE("boxes that are chosen", "[plan][box]") {
  tensor<double, shape<dyn, 2>> x({5, 2});
  x = tenon::iota<double>({5, 2});
  const tensor<int, tenon::rank<1>> chosen = {3, -1, 0};
  CHECK(box_at(tenon::take(x, chosen, axis<0>), 1) == std::vector<double>{8, 9});
  CHECK(box_at(tenon::take(x * 2, tenon::trusted(chosen - 0), axis<0>), 2) == std::vector<double>{0, 2});
  STATIC_REQUIRE_FALSE(boxes_of<decltype(tenon::take(x, chosen, axis<1>)), 1>::fits);
  const tensor<int, shape<1, dyn>> grid = {{3, -1, 0}};
  const tensor<int, shape<dyn, 2>> within = {{3, 1}, {0, 2}};
  STATIC_REQUIRE(boxes_of<decltype(tenon::take(x, grid, axis<0>)), 2>::fits);
  STATIC_REQUIRE_FALSE(boxes_of<decltype(tenon::take(x, grid, axis<0>)), 1>::fits);
  STATIC_REQUIRE_FALSE(boxes_of<decltype(tenon::take(x, grid, axis<1>)), 2>::fits);
  STATIC_REQUIRE_FALSE(boxes_of<decltype(tenon::take_along_axis(x, within, axis<0>)), 1>::fits);
}
