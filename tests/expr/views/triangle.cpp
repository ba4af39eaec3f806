// tests/expr/views/triangle.cpp: the part of matrices above or below a diagonal.
// Every offset is compared with a loop; what is left out does not count, NaN included.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/triangle.hpp>

#include <limits>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::rank;
using tenon::shape;
using tenon_test::counting;
using tenon_test::numbers_of;
using numbers = std::vector<double>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("triangles end at their diagonal", "[triangle]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<3>(2, 5, 37), 1);
  for (const int offset : {-40, -4, -1, 0, 2, 36, 40}) {
    numbers lower, upper;
    for (int n = 0; n < 2; ++n) {
      for (int i = 0; i < 5; ++i) {
        for (int j = 0; j < 37; ++j) {
          const double value = 1 + (n * 5 + i) * 37 + j;
          lower.push_back(j <= i + offset ? value : 0);
          upper.push_back(j >= i + offset ? value : 0);
        }
      }
    }
    CHECK(numbers_of(tenon::tril(x, offset)) == lower);
    CHECK(numbers_of(tenon::triu(x, offset)) == upper);
    CHECK(numbers_of(tenon::triu(x * 1, offset)) == upper);
  }
}

TEMPLATE_LIST_TEST_CASE("what is left out does not count", "[triangle]", tenon_test::spaces) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  auto x = tenon_test::tensor_of<TestType>(rank<2>(2, 2), std::vector<float>{1, nan, 2, 3});
  CHECK(numbers_of(tenon::sum(tenon::tril(x))) == numbers{6});
  x = tenon::tril(x);
  CHECK(numbers_of(x) == numbers{1, 0, 2, 3});
}

TEST_CASE("triangles keep element type and static extents", "[triangle]") {
  const tenon::tensor<std::int8_t, shape<2, 3>> x;
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::triu(x))::shape_type, shape<2, 3>>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::triu(x))::element, std::int8_t>);
  CHECK(numbers_of(tenon::tril(tenon::ones<tenon::half>(rank<2>(2, 2)))) == numbers{1, 0, 1, 1});
  CHECK(numbers_of(tenon::triu(tenon::ones<bool>(rank<2>(2, 2)))) == numbers{1, 1, 0, 1});
  CHECK(numbers_of(tenon::triu(counting<float>(rank<2>(0, 3)))).empty());
}
