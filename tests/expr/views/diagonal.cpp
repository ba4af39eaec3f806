// tests/expr/views/diagonal.cpp: diagonals of two axes.
// Every offset of matrices, broad and tall, is compared with a walk over all elements.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/diagonal.hpp>

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

/// The elements of a matrix of row-major numbers whose column is `offset` more than their row.
numbers walked(int rows, int columns, int offset) {
  numbers result;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      if (j - i == offset) result.push_back(i * columns + j);
    }
  }
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a diagonal keeps row and column apart by its offset", "[diagonal]", tenon_test::spaces) {
  for (const auto& [rows, columns] : {std::pair(3, 5), std::pair(5, 3), std::pair(4, 4)}) {
    const auto x = counting<float, TestType>(rank<2>(rows, columns));
    for (int offset = -6; offset <= 6; ++offset) {
      CHECK(numbers_of(tenon::diagonal(x, offset)) == walked(rows, columns, offset));
      CHECK(numbers_of(tenon::diagonal(x * 2, offset) / 2) == walked(rows, columns, offset));
      CHECK(numbers_of(tenon::diagonal(x, offset, axis<1, 0>)) == walked(rows, columns, -offset));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("the other axes stand before the diagonal", "[diagonal]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(shape<2, 3, 4>{});
  const auto ends = tenon::diagonal(x, 1, axis<0, 2>);
  STATIC_REQUIRE(std::is_same_v<typename decltype(ends)::shape_type, shape<3, tenon::dyn>>);
  CHECK(numbers_of(ends) == numbers{1, 14, 5, 18, 9, 22});
  CHECK(numbers_of(tenon::diagonal(x + 0, 1, axis<0, 2>)) == numbers_of(ends));
  CHECK(numbers_of(tenon::sum(tenon::diagonal(x), axis<-1>)) == numbers{0 + 5 + 10, 12 + 17 + 22});
}

TEMPLATE_LIST_TEST_CASE("the diagonal of a tensor can be assigned to", "[diagonal]", tenon_test::spaces) {
  auto x = counting<float, TestType>(rank<2>(3, 3));
  tenon::diagonal(x) = tenon::diagonal(x) * 10;
  CHECK(numbers_of(x) == numbers{0, 1, 2, 3, 40, 5, 6, 7, 80});
  x = tenon::diagonal(x) + x * 0;
  CHECK(numbers_of(x) == numbers{0, 40, 80, 0, 40, 80, 0, 40, 80});
}
