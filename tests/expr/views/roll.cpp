// tests/expr/views/roll.cpp: elements moved around an axis.
// Every shift of small axes is compared with the definition, (i - shift) modulo the extent.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/roll.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon::shape;
using tenon_test::counting;
using tenon_test::numbers_of;
using numbers = std::vector<double>;

/// The remainder that is never negative.
tenon::index wrapped(tenon::index position, tenon::index extent) { return ((position % extent) + extent) % extent; }

/// `values` of [outer, extent, inner], rolled along the middle.
numbers rolled(const numbers& values, tenon::index outer, tenon::index extent, tenon::index inner, tenon::index shift) {
  numbers result;
  for (tenon::index o = 0; o < outer; ++o) {
    for (tenon::index i = 0; i < extent; ++i) {
      for (tenon::index k = 0; k < inner; ++k) {
        const tenon::index from = (o * extent + wrapped(i - shift, extent)) * inner + k;
        result.push_back(values[static_cast<std::size_t>(from)]);
      }
    }
  }
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("elements wrap around the end", "[roll]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<3>(3, 5, 7));
  const auto values = numbers_of(x);
  for (const tenon::index shift : {-12, -5, -1, 0, 1, 3, 5, 9}) {
    CHECK(numbers_of(tenon::roll(x, shift, axis<0>)) == rolled(values, 1, 3, 35, shift));
    CHECK(numbers_of(tenon::roll(x, shift, axis<1>)) == rolled(values, 3, 5, 7, shift));
    CHECK(numbers_of(tenon::roll(x, shift, axis<-1>)) == rolled(values, 15, 7, 1, shift));
    CHECK(numbers_of(tenon::roll(x * 2 + 1, shift, axis<1>) / 2) ==
          rolled(numbers_of((x * 2 + 1) / 2), 3, 5, 7, shift));
  }
  CHECK(numbers_of(tenon::roll(x, {{1, -2}}, axis<0, 2>)) == rolled(rolled(values, 1, 3, 35, 1), 15, 7, 1, -2));
  CHECK(numbers_of(tenon::roll(x, {{1, 4, -2}}, axis<0, 1, 2>)) ==
        rolled(rolled(rolled(values, 1, 3, 35, 1), 3, 5, 7, 4), 15, 7, 1, -2));
}

TEMPLATE_LIST_TEST_CASE("a rolled operand fuses wherever an operand may stand", "[roll]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(5, 37), 0, 0.25);
  const auto expected = tenon_test::tensor_of<TestType>(rank<2>(5, 37), [&] {
    std::vector<float> result;
    for (const double each : rolled(numbers_of(x), 1, 5, 37, 2)) result.push_back(static_cast<float>(each));
    return result;
  }());
  const auto moved = tenon::roll(x, 2, axis<0>);
  CHECK(tenon_test::difference(numbers_of(tenon::softmax(moved, axis<-1>)),
                               numbers_of(tenon::softmax(expected, axis<-1>)), 1e-6) == "");
  CHECK(numbers_of(tenon::sum(moved, axis<0>)) == numbers_of(tenon::sum(x, axis<0>)));
  CHECK(numbers_of(tenon::sum(moved, axis<1>)) == numbers_of(tenon::sum(expected, axis<1>)));
  CHECK(numbers_of(tenon::matmul(moved, tenon::transpose(moved))) ==
        numbers_of(tenon::matmul(expected, tenon::transpose(expected))));
  CHECK(numbers_of(tenon::transpose(moved)) == numbers_of(tenon::transpose(expected)));
  CHECK(numbers_of(tenon::slice(moved, tenon::range(1, 4), tenon::range(30, 2, -3))) ==
        numbers_of(tenon::slice(expected, tenon::range(1, 4), tenon::range(30, 2, -3))));
  CHECK(numbers_of(moved + tenon::slice(moved, tenon::only(1))) ==
        numbers_of(expected + tenon::slice(expected, tenon::only(1))));
  STATIC_REQUIRE(tenon::kernel_count<decltype(tenon::softmax(moved, axis<-1>))> == 1);
}

TEMPLATE_LIST_TEST_CASE("what a statement overwrites is read first by roll", "[roll]", tenon_test::spaces) {
  auto x = counting<float, TestType>(rank<1>(100));
  const auto expected = rolled(numbers_of(x), 1, 100, 1, 1);
  x = tenon::roll(x, 1, axis<0>);
  CHECK(numbers_of(x) == expected);
}

TEMPLATE_LIST_TEST_CASE("a reduction is evaluated before it is rolled", "[roll]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(4, 3));
  CHECK(numbers_of(tenon::roll(tenon::sum(x, axis<1>), 1, axis<0>)) == numbers{30, 3, 12, 21});
  CHECK(numbers_of(x * 0 + tenon::roll(tenon::sum(x, axis<1>), 1, axis<0>)) ==
        numbers{30, 30, 30, 3, 3, 3, 12, 12, 12, 21, 21, 21});
}

TEST_CASE("static extents survive a roll, empty axes too", "[roll]") {
  const tenon::tensor<float, shape<2, 3>> x;
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::roll(x, 1, axis<0>))::shape_type, shape<2, 3>>);
  const tenon::tensor<float, rank<2>> empty(rank<2>(3, 0));
  CHECK(numbers_of(tenon::roll(empty, 1, axis<1>)).empty());
}

TEST_CASE("a rolled temporary lives as long as the expression", "[roll]") {
  const auto rolled_later = [] { return tenon::roll(counting<float>(rank<1>(4)), -1, axis<0>); }();
  CHECK(numbers_of(rolled_later) == numbers{1, 2, 3, 0});
}
