// tests/core/broadcast.cpp: the extents of a broadcast.
// What types know is asserted at compile time; what only run time knows, by its exception.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/broadcast.hpp>

#include <type_traits>

#include "support/catch.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon_test::has;

struct join_operation {
  static constexpr const char* name = "join";
};

template <class Left, class Right>
using joined = tenon::broadcast_shape<Left, Right>;

}  // namespace

TEST_CASE("static shapes broadcast in the type", "[broadcast]") {
  STATIC_REQUIRE(std::is_same_v<joined<shape<3, 4>, shape<3, 1>>, shape<3, 4>>);
  STATIC_REQUIRE(std::is_same_v<joined<shape<3, 4>, shape<4>>, shape<3, 4>>);
  STATIC_REQUIRE(std::is_same_v<joined<shape<1, 4>, shape<3, 1>>, shape<3, 4>>);
  STATIC_REQUIRE(std::is_same_v<joined<shape<>, shape<2, 3>>, shape<2, 3>>);
  STATIC_REQUIRE(std::is_same_v<joined<shape<dyn, 4>, shape<3, dyn>>, shape<3, 4>>);
  STATIC_REQUIRE(std::is_same_v<joined<shape<dyn>, shape<1>>, shape<dyn>>);
  STATIC_REQUIRE(std::is_same_v<joined<shape<0>, shape<1>>, shape<0>>);
  STATIC_REQUIRE(std::is_same_v<tenon::broadcast_shape<shape<4>, shape<3, 1>, rank<3>>, shape<dyn, 3, 4>>);
}

TEST_CASE("a static broadcast names the first axis that does not fit", "[broadcast]") {
  constexpr auto known = tenon::known_broadcast<shape<dyn, 3, 7>, shape<1, 7>, shape<5, 6>>;
  STATIC_REQUIRE(!known.fits());
  STATIC_REQUIRE((known.misfit == 1 && known.left == 3 && known.right == 5));
  STATIC_REQUIRE(tenon::known_broadcast<shape<2, 1>, shape<dyn, 5>>.fits());
}

TEST_CASE("dynamic shapes broadcast at run time", "[broadcast]") {
  const auto result = tenon::broadcast_extents<join_operation>(rank<2>(3, 1), rank<3>(2, 1, 5));
  CHECK(result == rank<3>(2, 3, 5));
  CHECK(tenon::broadcast_extents<join_operation>(rank<1>(0), rank<1>(1)) == rank<1>(0));
  CHECK(tenon::broadcast_extents<join_operation>(rank<1>(1), rank<1>(0)) == rank<1>(0));
  CHECK(tenon::broadcast_extents<join_operation>(rank<1>(1), rank<1>(5)) == rank<1>(5));
  CHECK(tenon::broadcast_extents<join_operation>(rank<1>(5), shape<1>{}) == rank<1>(5));
  CHECK(tenon::broadcast_all<join_operation>(rank<1>(4), shape<3, 1>{}, rank<3>(2, 1, 1)) == rank<3>(2, 3, 4));
}

TEST_CASE("run-time extents that differ are refused with operation, axis and both shapes", "[broadcast]") {
  const auto text = tenon_test::text_of<tenon::shape_error>(
      [] { tenon::broadcast_extents<join_operation>(rank<2>(2, 3), rank<2>(5, 7)); });
  CHECK(has(text, "join: axis 0"));
  CHECK(has(text, "2 and 5"));
  CHECK(has(text, "[2, 3]"));
  CHECK(has(text, "[5, 7]"));
  CHECK_THROWS_AS(tenon::broadcast_extents<join_operation>(rank<1>(0), rank<1>(2)), tenon::shape_error);
  CHECK_THROWS_AS(tenon::broadcast_extents<join_operation>(rank<1>(7), shape<5>{}), tenon::shape_error);
  CHECK_THROWS_AS(tenon::broadcast_extents<join_operation>(rank<1>(7), rank<1>(5)), tenon::shape_error);
}

TEST_CASE("numbers and equal extents leave a shape as it is", "[broadcast]") {
  CHECK(tenon::broadcast_extents<join_operation>(rank<2>(3, 4), shape<>{}) == rank<2>(3, 4));
  CHECK(tenon::broadcast_extents<join_operation>(shape<>{}, rank<2>(3, 4)) == rank<2>(3, 4));
  CHECK(tenon::broadcast_extents<join_operation>(rank<2>(3, 4), rank<2>(3, 4)) == rank<2>(3, 4));
  const auto fixed = tenon::broadcast_extents<join_operation>(shape<3, 1>{}, shape<4>{});
  STATIC_REQUIRE(std::is_same_v<decltype(fixed), const shape<3, 4>>);
  const auto known = tenon::broadcast_extents<join_operation>(rank<2>(1, 4), shape<3, 1>{});
  STATIC_REQUIRE(std::is_same_v<decltype(known), const shape<3, dyn>>);
  CHECK(known == rank<2>(3, 4));
}

TEST_CASE("a broadcast with more elements than can be counted is refused", "[broadcast]") {
  constexpr tenon::index many = tenon::index{1} << 32;
  const auto text = tenon_test::text_of<tenon::shape_error>(
      [] { tenon::broadcast_extents<join_operation>(rank<2>(many, 1), rank<2>(1, many)); });
  CHECK(has(text, "have more elements than can be counted"));
}
