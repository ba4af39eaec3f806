// tests/nn/matrix_parts.cpp: rows and columns of matrices, and sums of products.
// Parts are windows: what is written through them is in the whole.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/matrix_parts.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::numbers_of;

TEMPLATE_LIST_TEST_CASE("parts of a matrix are windows onto it", "[matrix_parts]", tenon_test::spaces) {
  auto x = tenon_test::counting<float, TestType>(rank<2>(4, 5));
  const auto middle = nn::columns_of(nn::rows_of(x.write_view(), 1, 2), 2, 3);
  CHECK(numbers_of(middle * 1) == std::vector<double>{7, 8, 9, 12, 13, 14});
  middle = 0;
  CHECK(numbers_of(tenon::sum(x))[0] == 190 - 63);
  CHECK(nn::rows_of(x.write_view(), 4, 0).size() == 0);
  CHECK(nn::columns_of(nn::no_matrix<float, TestType>(), 3, 0).data() == nullptr);
}

TEMPLATE_LIST_TEST_CASE("a product is added to what is there", "[matrix_parts]", tenon_test::spaces) {
  const auto x = tenon_test::counting<float, TestType>(rank<2>(2, 3)),
             y = tenon_test::counting<float, TestType>(rank<2>(3, 4));
  auto sum = tenon_test::counting<float, TestType>(rank<2>(4, 4), 100);
  nn::add_product(nn::rows_of(sum.write_view(), 1, 2), x, y);
  CHECK(numbers_of(sum) ==
        std::vector<double>{100, 101, 102, 103, 124, 128, 132, 136, 164, 177, 190, 203, 112, 113, 114, 115});
}
