// tests/expr/views/repeat.cpp: elements and operands said again.
// Compared with loops over copies.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/repeat.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;
using tenon_test::text_of;
using numbers = std::vector<double>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("repeat says each element again", "[repeat]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(3, 7));
  numbers rows, columns;
  for (int i = 0; i < 3; ++i) {
    for (int copy = 0; copy < 4; ++copy) {
      for (int j = 0; j < 7; ++j) rows.push_back(7 * i + j);
    }
  }
  for (int i = 0; i < 21; ++i) columns.insert(columns.end(), 5, i);
  CHECK(numbers_of(tenon::repeat(x, 4, axis<0>)) == rows);
  CHECK(numbers_of(tenon::repeat(x, 5, axis<-1>)) == columns);
  CHECK(tenon::repeat(x, 5, axis<1>).shape() == rank<2>(3, 35));
  CHECK(numbers_of(tenon::sum(tenon::repeat(x, 5, axis<1>), axis<1>)) == numbers{105, 350, 595});
  CHECK(numbers_of(tenon::repeat(x, 0, axis<0>)).empty());
}

TEMPLATE_LIST_TEST_CASE("tile says the whole operand again", "[repeat]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(2, 9));
  numbers expected;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 36; ++j) expected.push_back(9 * (i % 2) + j % 9);
  }
  CHECK(numbers_of(tenon::tile(x, {{3, 4}})) == expected);
  CHECK(numbers_of(tenon::tile(x + 1, {{1, 1}})) == numbers_of(x + 1));
  CHECK(tenon::tile(x, {{3, 0}}).shape() == rank<2>(6, 0));
  CHECK(numbers_of(tenon::tile(tenon::slice(x, tenon::range(0, 0)), {{5, 1}})).empty());
}

TEMPLATE_LIST_TEST_CASE("nearest-neighbour enlargement is a repeat of both axes", "[repeat]", tenon_test::spaces) {
  const auto image = counting<float, TestType>(rank<2>(2, 2));
  CHECK(numbers_of(tenon::repeat(tenon::repeat(image, 2, axis<0>), 2, axis<1>)) ==
        numbers{0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3});
}

TEST_CASE("negative counts are refused", "[repeat]") {
  const auto x = counting<float>(rank<2>(2, 3));
  CHECK(text_of<tenon::shape_error>([&] { tenon::repeat(x, -1, axis<-1>); }) ==
        "repeat: axis 1: count -1, expected at least 0, and a length within 64 bits (extent 3)");
  CHECK(text_of<tenon::shape_error>([&] { tenon::tile(x, {{1, -2}}); }) ==
        "tile: axis 1: count -2, expected at least 0, and a length within 64 bits (extent 3)");
}
