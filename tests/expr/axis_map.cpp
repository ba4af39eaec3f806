// tests/expr/axis_map.cpp: affine maps of axes, on strides.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/axis_map.hpp>

#include "support/catch.hpp"

using tenon::array;

TEST_CASE("the identity map leaves strides as they are", "[axis_map]") {
  constexpr auto map = tenon::identity_map<3>();
  STATIC_REQUIRE(map.strides({{12, 4, 1}}) == array<tenon::index, 3>{{12, 4, 1}});
  STATIC_REQUIRE(map.offset({{12, 4, 1}}) == 0);
}

TEST_CASE("maps move, reverse and drop axes", "[axis_map]") {
  const tenon::axis_map<2, 3> map{{{1, 2}}, {{1, -1, 0}}, {{-2, 0, 3}}};
  CHECK(map.offset({{10, 1}}) == 12);
  CHECK(map.strides({{10, 1}}) == array<tenon::index, 3>{{-2, 0, 30}});
}

TEST_CASE("broadcasting drops the strides of missing axes and extents of 1", "[axis_map]") {
  const auto map = tenon::broadcast_map(tenon::identity_map<3>(), array<tenon::index, 2>{{1, 5}});
  CHECK(map.strides({{5, 1}}) == array<tenon::index, 3>{{0, 0, 1}});
  const auto number = tenon::broadcast_map(tenon::identity_map<2>(), array<tenon::index, 0>{});
  CHECK(number.strides(array<tenon::index, 0>{}) == array<tenon::index, 2>{{0, 0}});
}
