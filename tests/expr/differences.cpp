// tests/expr/differences.cpp: differences of neighbours, and cross products.
// Compared with loops over the elements, along every axis.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/differences.hpp>
#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;
using numbers = std::vector<double>;

constexpr auto irregular = [](tenon::index i) { return static_cast<double>(i * 7919 % 61) - 30; };

}  // namespace

TEMPLATE_LIST_TEST_CASE("differences of neighbours along each axis", "[differences]", tenon_test::spaces) {
  const auto x = tenon_test::made_tensor<float, TestType>(rank<3>(4, 5, 3), irregular);
  const auto values = numbers_of(x);
  const auto at = [&](int i, int j, int k) { return values[static_cast<std::size_t>((i * 5 + j) * 3 + k)]; };
  numbers first, middle, last;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 5; ++j) {
      for (int k = 0; k < 3; ++k) {
        if (i > 0) first.push_back(at(i, j, k) - at(i - 1, j, k));
        if (j > 0) middle.push_back(at(i, j, k) - at(i, j - 1, k));
        if (k > 0) last.push_back(at(i, j, k) - at(i, j, k - 1));
      }
    }
  }
  CHECK(numbers_of(tenon::diff(x, axis<0>)) == first);
  CHECK(numbers_of(tenon::diff(x, axis<-2>)) == middle);
  CHECK(numbers_of(tenon::diff(x, axis<2>)) == last);
}

TEMPLATE_LIST_TEST_CASE("differences of one element and of none are empty", "[differences]", tenon_test::spaces) {
  const tenon::tensor<double, rank<2>, TestType> one(rank<2>(1, 4)), none(rank<2>(0, 4));
  CHECK(tenon_test::extents_of(tenon::diff(one, axis<0>)) == std::vector<tenon::index>{0, 4});
  CHECK(tenon_test::extents_of(tenon::diff(none, axis<0>)) == std::vector<tenon::index>{0, 4});
  const auto squares = tenon::evaluated_tensor(tenon::square(tenon::arange<double>(6)));
  CHECK(numbers_of(tenon::diff(tenon::diff(squares, axis<0>), axis<0>)) == numbers{2, 2, 2, 2});
}

TEMPLATE_LIST_TEST_CASE("cross products along the last axis and the first", "[differences]", tenon_test::spaces) {
  for (const tenon::index count : {0, 1, 7, 130}) {
    const auto a = tenon_test::made_tensor<float, TestType>(rank<2>(count, 3), irregular);
    const auto b = tenon_test::made_tensor<float, TestType>(
        rank<2>(count, 3), [](tenon::index i) { return static_cast<double>(i * 31 % 17) - 8; });
    const auto x = numbers_of(a), y = numbers_of(b);
    numbers expected;
    for (std::size_t at = 0; at < x.size(); at += 3) {
      expected.push_back(x[at + 1] * y[at + 2] - x[at + 2] * y[at + 1]);
      expected.push_back(x[at + 2] * y[at] - x[at] * y[at + 2]);
      expected.push_back(x[at] * y[at + 1] - x[at + 1] * y[at]);
    }
    CAPTURE(count);
    CHECK(numbers_of(tenon::cross(a, b)) == expected);
    const auto apart = tenon::cross(tenon::transpose(a), tenon::transpose(b), axis<0>);
    CHECK(numbers_of(tenon::transpose(apart)) == expected);
  }
}

TEST_CASE("cross products of static vectors, and of one with many", "[differences]") {
  const tenon::tensor<double, tenon::shape<3>> x = {1, 2, 3}, y = {-2, 0.5, 4};
  const tenon::tensor<double, tenon::shape<3>> both = tenon::cross(x, y);
  CHECK(numbers_of(both) == numbers{6.5, -10, 4.5});
  const tenon::tensor<double, rank<2>> many = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  CHECK(numbers_of(tenon::cross(many, x)) == numbers{0, -3, 2, 3, 0, -1, -2, 1, 0});
}

TEST_CASE("cross products refuse other than three components", "[differences]") {
  const tenon::tensor<float, rank<2>> a({5, 3}), b({5, 4});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)tenon::cross(a, b); }) ==
        "cross: axis 1: extent 4, expected 3 (operand [5, 4])");
  const tenon::tensor<float, rank<2>> ten({10, 3}), nine({9, 3});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)tenon::cross(ten, nine); }) ==
        "cross: axis 0: extents 10 and 9 differ, expected equal or one of them 1 (operands [10, 3] and [9, 3])");
}
