// tests/expr/views/broadcast.cpp: the same elements seen along more positions.
// Repeated elements share memory through strides of zero.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/broadcast.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon_test::counting;
using tenon_test::has;
using tenon_test::numbers_of;
using tenon_test::text_of;

}  // namespace

TEMPLATE_LIST_TEST_CASE("extents of 1 and missing axes repeat", "[broadcast]", tenon_test::spaces) {
  const auto row = counting<float, TestType>(rank<1>(3)), column = counting<float, TestType>(rank<1>(2));
  CHECK(numbers_of(tenon::broadcast_to(row, rank<2>(2, 3))) == std::vector<double>{0, 1, 2, 0, 1, 2});
  CHECK(numbers_of(tenon::broadcast_to(tenon::new_axis<1>(column), rank<2>(2, 3))) ==
        std::vector<double>{0, 0, 0, 1, 1, 1});
  CHECK(numbers_of(tenon::broadcast_to(row * 10, tenon::shape<2, 3>{})) == std::vector<double>{0, 10, 20, 0, 10, 20});
  CHECK(numbers_of(tenon::broadcast_to(row, rank<2>(0, 3))).empty());
}

TEST_CASE("a broadcast of a tensor is a view with strides of zero", "[broadcast]") {
  const auto row = counting<float>(rank<1>(3));
  const auto table = tenon::broadcast_to(row, rank<2>(5, 3));
  CHECK(table.data() == row.data());
  CHECK(table.strides() == tenon::array<tenon::index, 2>{{0, 1}});
}

TEST_CASE("the target's extents reach the type", "[broadcast]") {
  const auto row = counting<float>(rank<1>(3));
  STATIC_REQUIRE(
      std::is_same_v<decltype(tenon::broadcast_to(row, tenon::shape<2, 3>{}))::shape_type, tenon::shape<2, 3>>);
}

TEST_CASE("extents that do not repeat are refused", "[broadcast]") {
  const auto x = counting<float>(rank<2>(2, 3));
  const auto text = text_of<tenon::shape_error>([&] { tenon::broadcast_to(x, rank<2>(4, 3)); });
  CHECK(has(text, "broadcast_to: axis 0"));
  CHECK(has(text, "[2, 3]"));
  const auto smaller = text_of<tenon::shape_error>([&] { tenon::broadcast_to(x, rank<2>(1, 3)); });
  CHECK(has(smaller, "[2, 3] do not repeat to [1, 3]"));
}

TEMPLATE_LIST_TEST_CASE("expand repeats extents of 1 and keeps what is -1", "[broadcast]", tenon_test::spaces) {
  const auto column = counting<float, TestType>(rank<2>(2, 1));
  CHECK(numbers_of(tenon::expand(column, {2, 3})) == std::vector<double>{0, 0, 0, 1, 1, 1});
  CHECK(numbers_of(tenon::expand(column * 2, {-1, 2})) == std::vector<double>{0, 0, 2, 2});
  CHECK(numbers_of(tenon::expand(column, {2, -1, -1})) == std::vector<double>{0, 1, 0, 1});
  CHECK(tenon::expand(column, {-1, 0}).shape() == rank<2>(2, 0));
  CHECK(tenon::expand(column, {3, 2, 5}).strides() == tenon::array<tenon::index, 3>{{0, 1, 0}});
  const auto number = counting<float, TestType>(tenon::shape<>{}, 7);
  CHECK(numbers_of(tenon::expand(number, {2, 1})) == std::vector<double>{7, 7});
}

TEST_CASE("expand names the axis that does not repeat", "[broadcast]") {
  const auto x = counting<float>(rank<2>(2, 1));
  CHECK(text_of<tenon::shape_error>([&] { tenon::expand(x, {4, 3}); }) ==
        "expand: axis 0: extent 4, expected 2 or -1 (operand [2, 1])");
  CHECK(text_of<tenon::shape_error>([&] { tenon::expand(x, {-1, 2, 1}); }) ==
        "expand: axis 0: extent -1, expected that of a new axis (operand [2, 1])");
  CHECK(text_of<tenon::shape_error>([&] { tenon::expand(x, {2, -2}); }) ==
        "expand: axis 1: extent -2, expected at least 0 (operand [2, 1])");
  CHECK(text_of<tenon::shape_error>([&] { tenon::expand(x, {1, 1}); }) ==
        "expand: axis 0: extent 1, expected 2 or -1 (operand [2, 1])");
}

TEST_CASE("the extents of a broadcast stand in braces", "[broadcast]") {
  const auto row = tenon_test::counting<float>(tenon::rank<1>(3));
  CHECK(tenon_test::numbers_of(tenon::broadcast_to(row, {2, 3}) * 1) == std::vector<double>{0, 1, 2, 0, 1, 2});
}
