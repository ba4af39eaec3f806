// tests/expr/views/split.cpp: an axis cut into parts.
// Parts put behind each other again are the whole.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/split.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon::shape;
using tenon_test::counting;
using tenon_test::numbers_of;
using tenon_test::text_of;
using numbers = std::vector<double>;

/// Columns [begin, end) of a matrix of row-major numbers.
numbers columns_of(int rows, int columns, int begin, int end) {
  numbers result;
  for (int i = 0; i < rows; ++i) {
    for (int j = begin; j < end; ++j) result.push_back(i * columns + j);
  }
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("equal parts of an axis", "[split]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(2, 12));
  const auto [first, second, third] = tenon::split<3>(x, axis<1>);
  CHECK(numbers_of(first) == columns_of(2, 12, 0, 4));
  CHECK(numbers_of(second) == columns_of(2, 12, 4, 8));
  CHECK(numbers_of(third) == columns_of(2, 12, 8, 12));
  const auto halves = tenon::split<2>(x * 2, axis<-1>);
  CHECK(numbers_of(halves[1] / 2) == columns_of(2, 12, 6, 12));
  CHECK(numbers_of(tenon::split<2>(x, axis<0>)[1]) == numbers{12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
}

TEMPLATE_LIST_TEST_CASE("parts of given lengths", "[split]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(3, 7));
  const auto [front, none, back] = tenon::split(x, axis<1>, {2, 0, 5});
  CHECK(numbers_of(front) == columns_of(3, 7, 0, 2));
  CHECK(numbers_of(none).empty());
  CHECK(numbers_of(back) == columns_of(3, 7, 2, 7));
  CHECK(numbers_of(tenon::concatenate(axis<1>, front, none, back)) == numbers_of(x));
  CHECK(numbers_of(tenon::narrow(x, axis<-1>, 1, 3)) == columns_of(3, 7, 1, 4));
}

TEMPLATE_LIST_TEST_CASE("parts of a tensor can be assigned to", "[split]", tenon_test::spaces) {
  auto x = counting<float, TestType>(rank<1>(6));
  const auto [front, back] = tenon::split<2>(x, axis<0>);
  front = back * 10;
  CHECK(numbers_of(x) == numbers{30, 40, 50, 3, 4, 5});
}

TEMPLATE_LIST_TEST_CASE("parts keep a temporary alive", "[split]", tenon_test::spaces) {
  const auto halves = [] { return tenon::split<2>(counting<float, TestType>(rank<1>(4)), axis<0>); }();
  CHECK(numbers_of(halves[1]) == numbers{2, 3});
}

TEST_CASE("static extents are divided", "[split]") {
  const tenon::tensor<float, shape<2, 12>> x;
  [[maybe_unused]] const auto part = tenon::split<3>(x, axis<1>)[0];
  STATIC_REQUIRE(std::is_same_v<typename decltype(part)::shape_type, shape<2, 4>>);
  [[maybe_unused]] const auto some = tenon::narrow(x, axis<1>, 3, 2);
  STATIC_REQUIRE(std::is_same_v<typename decltype(some)::shape_type, shape<2, tenon::dyn>>);
}

TEST_CASE("parts that do not make up the axis are refused", "[split]") {
  const auto x = counting<float>(rank<2>(2, 7));
  CHECK(text_of<tenon::shape_error>([&] { tenon::split<2>(x, axis<-1>); }) ==
        "split: axis 1: extent 7, expected a multiple of 2");
  CHECK(text_of<tenon::shape_error>([&] { tenon::split(x, axis<-1>, {3, 5}); }) ==
        "split: axis 1: lengths add up to 8, expected the extent 7");
  CHECK(text_of<tenon::index_error>([&] { tenon::split(x, axis<-1>, {8, -1}); }) ==
        "narrow: axis 1: 8 positions from 0, expected within the extent 7");
  CHECK(text_of<tenon::index_error>([&] { tenon::narrow(x, axis<1>, 6, 2); }) ==
        "narrow: axis 1: 2 positions from 6, expected within the extent 7");
}
