// tests/core/extents.cpp: shapes and axes.
// What types know is asserted at compile time; what only run time knows, by its exception.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/extents.hpp>

#include <type_traits>

#include "support/catch.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon_test::has;

}  // namespace

TEST_CASE("static extents are stored in the type alone", "[extents]") {
  STATIC_REQUIRE(std::is_empty_v<shape<3, 224, 224>>);
  STATIC_REQUIRE(std::is_empty_v<shape<>>);
  STATIC_REQUIRE(sizeof(shape<dyn, 224, dyn>) == 2 * sizeof(tenon::index));
  STATIC_REQUIRE(std::is_trivially_copyable_v<rank<4>>);
  STATIC_REQUIRE(shape<3, 224, 224>{}.count() == 3 * 224 * 224);
  STATIC_REQUIRE(shape<>{}.count() == 1);
}

TEST_CASE("extents are read by axis, static and dynamic ones mixed", "[extents]") {
  constexpr shape<dyn, 5, dyn> mixed(2, 5, 7);
  STATIC_REQUIRE(mixed.extent(0) == 2);
  STATIC_REQUIRE(mixed.extent(1) == 5);
  STATIC_REQUIRE(mixed[2] == 7);
  STATIC_REQUIRE(mixed.count() == 70);
  STATIC_REQUIRE(mixed.to_array() == tenon::array<tenon::index, 3>{{2, 5, 7}});
  STATIC_REQUIRE(decltype(mixed)::static_extent(1) == 5);
  STATIC_REQUIRE(decltype(mixed)::static_extent(2) == dyn);
  STATIC_REQUIRE(decltype(mixed)::dynamic_rank == 2);
  STATIC_REQUIRE(shape<dyn, 5>{}.extent(0) == 0);
}

TEST_CASE("axes of extents count from the back where they are negative, and none is read outside", "[extents]") {
  constexpr shape<dyn, 5, dyn> mixed(2, 5, 7);
  STATIC_REQUIRE((mixed.extent(-1) == 7 && mixed.extent(-2) == 5 && mixed[-3] == 2));
  STATIC_REQUIRE(shape<3, 4>{}.extent(-1) == 4);
  for (const int axis : {3, -4, 1000}) {
    const std::string beginning = "extent: axis " + std::to_string(axis) + ", expected ";
    CHECK(tenon_test::text_of<tenon::index_error>([&] { (void)mixed.extent(axis); }) ==
          beginning + "-3 to 2 (extents [2, 5, 7])");
    CHECK(tenon_test::text_of<tenon::index_error>([&] { (void)shape<3, 4, 6>{}.extent(axis); }) ==
          beginning + "-3 to 2 (extents [3, 4, 6])");
  }
  CHECK_THROWS_AS(shape<>{}.extent(0), tenon::index_error);
}

TEST_CASE("the dynamic extents may be given alone", "[extents]") {
  constexpr shape<dyn, 1, 28, 28> batch(4);
  STATIC_REQUIRE(batch == shape<4, 1, 28, 28>{});
  constexpr shape<3, dyn, 5, dyn> mixed(4, 6);
  STATIC_REQUIRE(mixed == rank<4>(3, 4, 5, 6));
  STATIC_REQUIRE(mixed == shape<3, dyn, 5, dyn>(3, 4, 5, 6));
  STATIC_REQUIRE_FALSE(std::is_constructible_v<shape<3, dyn, 5, dyn>, int>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<shape<3, dyn, 5, dyn>, int, int, int>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<shape<3, 5>, int>);
  CHECK(tenon_test::text_of<tenon::shape_error>([] { shape<dyn, 5, dyn>(3, -6); }) ==
        "shape: axis 2: extent -6, expected at least 0 (extents [3, 5, -6])");
}

TEST_CASE("rank<N> is N dynamic extents", "[extents]") {
  STATIC_REQUIRE(std::is_same_v<rank<2>, shape<dyn, dyn>>);
  STATIC_REQUIRE(std::is_same_v<rank<0>, shape<>>);
  STATIC_REQUIRE(tenon::shape_type<rank<3>>);
  STATIC_REQUIRE(!tenon::shape_type<int>);
}

TEST_CASE("shapes convert between what they know, and compare by extents", "[extents]") {
  const rank<2> dynamic(shape<2, 3>{});
  CHECK(dynamic == shape<2, 3>{});
  CHECK((shape<2, dyn>(dynamic) == dynamic));
  CHECK_FALSE(dynamic == rank<2>(3, 2));
  CHECK_FALSE(dynamic == rank<1>(2));
  CHECK_THROWS_AS((shape<2, 4>(dynamic)), tenon::shape_error);
}

TEST_CASE("extents that cannot be are refused with axis and extents", "[extents]") {
  const auto negative = tenon_test::text_of<tenon::shape_error>([] { rank<2>(3, -4); });
  CHECK(has(negative, "axis 1"));
  CHECK(has(negative, "-4"));
  const auto other = tenon_test::text_of<tenon::shape_error>([] { shape<2, dyn>(3, 4); });
  CHECK(has(other, "axis 0"));
  CHECK(has(other, "expected 2"));
  CHECK(has(other, "[3, 4]"));
}

TEST_CASE("extents are counted, and those beyond are refused where one is 0 as well", "[extents]") {
  constexpr tenon::index huge = tenon::index{1} << 62;
  using three = tenon::array<tenon::index, 3>;
  STATIC_REQUIRE(tenon::is_countable(three{{0, huge, 1}}));
  STATIC_REQUIRE(!tenon::is_countable(three{{0, huge, huge}}));
  STATIC_REQUIRE(!tenon::is_countable(three{{1, 1, huge}}, 4));
  for (const auto& extents : {three{{0, huge, huge}}, three{{huge, 0, huge}}, three{{huge, huge, 0}}}) {
    CHECK(!tenon::is_countable(extents));
    CHECK(has(tenon_test::text_of<tenon::shape_error>([&] { rank<3>{extents}; }),
              "have more elements than can be counted"));
  }
  CHECK(rank<3>(huge, 0, 1).count() == 0);
  CHECK(rank<3>(huge, 1, 1).count() == huge);
}

TEST_CASE("axes count from the back when negative", "[extents]") {
  STATIC_REQUIRE(tenon::normalise_axis(-1, 3) == 2);
  STATIC_REQUIRE(tenon::normalise_axis(-3, 3) == 0);
  STATIC_REQUIRE(tenon::normalise_axis(1, 3) == 1);
  STATIC_REQUIRE(tenon::axis_set<3>(tenon::axis<0, -1>) == tenon::array<bool, 3>{{true, false, true}});
  STATIC_REQUIRE(tenon::axis_set<2>(tenon::axis<>) == tenon::array<bool, 2>{{false, false}});
}

TEST_CASE("surplus axes of static extent 1 go, the first ones first", "[extents]") {
  using tenon::extents_without_units;
  CHECK(extents_without_units<rank<1>>(shape<dyn, 1>(4, 1)) == rank<1>(4));
  CHECK(extents_without_units<rank<2>>(shape<1, dyn, 1>(1, 4, 1)) == rank<2>(4, 1));
  CHECK(extents_without_units<rank<2>>(shape<dyn, 1, 3, 1>(1, 1, 3, 1)) == rank<2>(1, 3));
  CHECK(extents_without_units<rank<2>>(shape<dyn, 1>(4, 1)) == rank<2>(4, 1));
  CHECK(extents_without_units<shape<>>(shape<1, 1>{}) == shape<>{});
  CHECK_THROWS_AS(extents_without_units<shape<5>>(shape<1, dyn>(1, 4)), tenon::shape_error);
}
