// tests/expr/generate.cpp: values computed from their position.
// Generators lie in no space, so the same expression is evaluated in each.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/generate.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::rank;
using tenon::shape;
using tenon_test::numbers_of;
using numbers = std::vector<double>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("generators give the same values in every space", "[generate]", tenon_test::spaces) {
  using space = TestType;
  CHECK(numbers_of<space>(tenon::arange<float>(5)) == numbers{0, 1, 2, 3, 4});
  CHECK(numbers_of<space>(tenon::arange<std::int64_t>(4, 10, -3)) == numbers{10, 7, 4, 1});
  CHECK(numbers_of<space>(tenon::arange<double>(0)).empty());
  CHECK(numbers_of<space>(tenon::iota<int>(shape<2, 3>{})) == numbers{0, 1, 2, 3, 4, 5});
  CHECK(numbers_of<space>(tenon::eye<float>(2, 3)) == numbers{1, 0, 0, 0, 1, 0});
  CHECK(numbers_of<space>(tenon::eye<int>(3, 2)) == numbers{1, 0, 0, 1, 0, 0});
  CHECK(numbers_of<space>(tenon::constants(rank<1>(3), 2.5)) == numbers{2.5, 2.5, 2.5});
}

TEMPLATE_LIST_TEST_CASE("full, zeros and ones are tensors", "[generate]", tenon_test::spaces) {
  const auto sevens = tenon::full<int, TestType>(rank<2>(2, 2), 7);
  STATIC_REQUIRE(std::is_same_v<typename decltype(sevens)::space, TestType>);
  CHECK(numbers_of(sevens) == numbers{7, 7, 7, 7});
  CHECK(numbers_of(tenon::zeros<double, TestType>(shape<3>{})) == numbers{0, 0, 0});
  CHECK(numbers_of(tenon::ones<tenon::half, TestType>(rank<1>(2))) == numbers{1, 1});
  CHECK(tenon::zeros<float, TestType>(rank<2>(0, 5)).size() == 0);
}

TEST_CASE("static shapes reach the type", "[generate]") {
  const auto image = tenon::zeros<float>(shape<3, 4, 5>{});
  STATIC_REQUIRE(std::is_same_v<decltype(image), const tenon::tensor<float, shape<3, 4, 5>>>);
  CHECK(image.size() == 60);
}

TEST_CASE("positions survive slices, permutations and broadcasts", "[generate]") {
  const auto grid = tenon::iota<float>(rank<2>(3, 4));
  CHECK(numbers_of(tenon::transpose(grid)) == numbers{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  CHECK(numbers_of(tenon::slice(grid, tenon::range(2, tenon::open_end, -1), tenon::range(1, 4, 2))) ==
        numbers{9, 11, 5, 7, 1, 3});
  CHECK(numbers_of(tenon::transpose(tenon::eye<float>(2, 3))) == numbers{1, 0, 0, 1, 0, 0});
  CHECK(numbers_of(grid * tenon::arange<float>(4)) == numbers{0, 1, 4, 9, 0, 5, 12, 21, 0, 9, 20, 33});
}

TEST_CASE("16-bit positions are computed in float and rounded once", "[generate]") {
  const auto values = numbers_of(tenon::arange<tenon::half>(4000));
  CHECK(values[2048] == 2048);
  CHECK(values[2049] == 2048);  // the tie goes to even
  CHECK(values[2051] == 2052);
}

TEST_CASE("a count that cannot be is refused", "[generate]") {
  CHECK_THROWS_AS(tenon::arange<float>(-1), tenon::shape_error);
  CHECK_THROWS_AS(tenon::eye<float>(2, -3), tenon::shape_error);
}
