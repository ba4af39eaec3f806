// tests/plan/box.cpp: the last axes of shapes, and places among them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/plan/box.hpp>

#include "support/catch.hpp"

using tenon::dyn;
using tenon::shape;

TEST_CASE("how many axes stand before a box", "[plan][box]") {
  using tenon::detail::axes_before_box;
  STATIC_REQUIRE(axes_before_box<shape<dyn, 3>>() == 1);
  STATIC_REQUIRE(axes_before_box<shape<dyn, dyn, 4, 4>>() == 2);
  STATIC_REQUIRE(axes_before_box<shape<100, 1, 3>>() == 1);
  STATIC_REQUIRE(axes_before_box<shape<3, dyn>>() == 2);
  STATIC_REQUIRE(axes_before_box<shape<dyn, 17>>() == 2);
  STATIC_REQUIRE(axes_before_box<shape<dyn, 3, 3, 3>>() == 2);
  STATIC_REQUIRE(axes_before_box<shape<dyn, 0>>() == 2);
  STATIC_REQUIRE(axes_before_box<shape<3, 3>>() == 0);
  STATIC_REQUIRE(axes_before_box<shape<>>() == 0);
}

TEST_CASE("places within a box", "[plan][box]") {
  using box = tenon::detail::box<shape<dyn, 2, 1, 3>, 1>;
  STATIC_REQUIRE(box::is_known);
  STATIC_REQUIRE(box::count == 6);
  for (int place = 0; place < box::count; ++place) {
    const auto position = box::position(place);
    CHECK(position[0] == place / 3);
    CHECK(position[1] == 0);
    CHECK(position[2] == place % 3);
    CHECK(box::place(position) == place);
  }
  CHECK(box::place(tenon::array<tenon::index, 4>{{9, 1, 5, 2}}) == 5);  // from the back; an axis of 1 repeats
  STATIC_REQUIRE_FALSE(tenon::detail::box<shape<dyn, 3>, 0>::is_known);
  STATIC_REQUIRE(tenon::detail::box<shape<dyn>, 1>::count == 1);
}

TEST_CASE("where neighbouring boxes lie", "[plan][box]") {
  const tenon::detail::box_places<3> places{{{4, 5, 6}}, {{0, 1, 2}}, 3};
  CHECK(places.of(0) == tenon::array<tenon::index, 3>{{4, 5, 6}});
  CHECK(places.of(2) == tenon::array<tenon::index, 3>{{4, 7, 10}});
  const auto last = places.last<2>();
  CHECK(last.of(1) == tenon::array<tenon::index, 2>{{6, 8}});
  CHECK(last.count == 3);
  CHECK(places.one(1).first == places.of(1));
  CHECK(places.one(3).first == places.of(0));  // there is no fourth
  CHECK(places.one(1).count == 1);
}
