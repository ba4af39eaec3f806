// tests/expr/affine_grid.cpp: grids of affine transforms, place by place.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/affine_grid.hpp>

#include "support/elements.hpp"
#include "support/gradient.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using decimals = std::vector<double>;

/// Where element i of an axis is.
double end_to_end(tenon::index i, tenon::index extent, bool align_corners) {
  const auto place = static_cast<double>(i), count = static_cast<double>(extent);
  if (align_corners) return extent == 1 ? 0 : 2 * place / (count - 1) - 1;
  return (2 * place + 1) / count - 1;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("an affine grid has the places that transforms name", "[affine_grid]", tenon_test::spaces) {
  const auto theta = tenon_test::made_tensor<double, TestType>(rank<3>(2, 2, 3), tenon_test::scattered);
  const decimals numbers = tenon_test::numbers_of<TestType>(theta);
  for (const auto& size : {rank<4>(2, 3, 4, 5), rank<4>(2, 1, 1, 3), rank<4>(2, 1, 7, 1), rank<4>(2, 1, 0, 3)}) {
    for (const bool align : {false, true}) {
      decimals expected;
      for (tenon::index i = 0; i < 2 * size.extent(2) * size.extent(3); ++i) {
        const double x = end_to_end(i % size.extent(3), size.extent(3), align);
        const double y = end_to_end(i / size.extent(3) % size.extent(2), size.extent(2), align);
        const auto first = static_cast<std::size_t>(i / (size.extent(2) * size.extent(3)) * 6);
        for (const std::size_t row : {first, first + 3}) {
          expected.push_back(numbers[row] * x + numbers[row + 1] * y + numbers[row + 2]);
        }
      }
      const auto grid = tenon::affine_grid(theta, size, align);
      CHECK(tenon_test::extents_of(grid) == std::vector<tenon::index>{2, size.extent(2), size.extent(3), 2});
      CHECK(tenon_test::difference(tenon_test::numbers_of<TestType>(grid), expected, 1e-13) == "");
    }
  }
}

TEST_CASE("an affine grid has the gradient of its matrices", "[affine_grid]") {
  auto theta = tenon_test::drawn(rank<3>(2, 2, 3), 1);
  CHECK(tenon_test::gradient_difference([](const auto& x) { return tenon::affine_grid(x, {2, 3, 4, 5}); }, theta) ==
        "");
}

TEST_CASE("matrices of no affine transforms are refused", "[affine_grid]") {
  const tenon::tensor<float, rank<3>> theta({2, 3, 3});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::affine_grid(theta, {2, 3, 4, 5}); }) ==
        "affine_grid: axis 1: extent 3 of the matrices [2, 3, 3], expected [2, 2, 3]");
}
