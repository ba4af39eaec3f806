// tests/expr/views/flip.cpp: axes read backwards.
// Compared with loops that count down.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/flip.hpp>

#include <algorithm>

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

}  // namespace

TEMPLATE_LIST_TEST_CASE("flipped axes count down", "[flip]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<3>(2, 3, 37));
  numbers middle, ends;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 37; ++k) {
        middle.push_back((i * 3 + 2 - j) * 37 + k);
        ends.push_back(((1 - i) * 3 + j) * 37 + 36 - k);
      }
    }
  }
  auto backwards = numbers_of(x);
  std::reverse(backwards.begin(), backwards.end());
  CHECK(numbers_of(tenon::flip(x, axis<1>)) == middle);
  CHECK(numbers_of(tenon::flip(x, axis<0, -1>)) == ends);
  CHECK(numbers_of(tenon::flip(x, axis<0, 1, 2>)) == backwards);
  CHECK(numbers_of(tenon::flip(x * 2, axis<0, -1>) / 2) == ends);
  CHECK(numbers_of(tenon::flip(tenon::flip(x, axis<2>), axis<2>)) == numbers_of(x));
}

TEMPLATE_LIST_TEST_CASE("a flipped tensor can be assigned to, also from itself", "[flip]", tenon_test::spaces) {
  auto x = counting<float, TestType>(rank<1>(5));
  tenon::flip(x, axis<0>) = tenon::arange<float>(10, 15);
  CHECK(numbers_of(x) == numbers{14, 13, 12, 11, 10});
  x = tenon::flip(x, axis<0>);
  CHECK(numbers_of(x) == numbers{10, 11, 12, 13, 14});
}

TEST_CASE("static extents survive a flip, empty axes too", "[flip]") {
  const tenon::tensor<float, shape<2, 3>> x;
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::flip(x, axis<0>))::shape_type, shape<2, 3>>);
  CHECK(numbers_of(tenon::flip(counting<float>(rank<2>(0, 3)), axis<0, 1>)).empty());
}
