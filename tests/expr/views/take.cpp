// tests/expr/views/take.cpp: elements chosen by indices.
// Compared with loops over the definitions of numpy.take and numpy.take_along_axis.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/take.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon::shape;
using tenon_test::counting;
using tenon_test::numbers_of;
using tenon_test::tensor_of;
using tenon_test::text_of;
using numbers = std::vector<double>;

/// `count` indices into an axis of `extent`, from the front and from the back.
std::vector<std::int32_t> random_indices(std::size_t count, std::int64_t extent, std::uint64_t seed) {
  tenon_test::random_source source(seed);
  std::vector<std::int32_t> result;
  for (std::size_t i = 0; i < count; ++i)
    result.push_back(static_cast<std::int32_t>(source.below(2 * extent) - extent));
  return result;
}

/// Parts of [outer, extent, inner] at the indices of the middle axis.
numbers taken(const numbers& values, std::size_t outer, std::size_t extent, std::size_t inner,
              const std::vector<std::int32_t>& indices) {
  numbers result;
  for (std::size_t o = 0; o < outer; ++o) {
    for (const auto chosen : indices) {
      const auto at = static_cast<std::size_t>(chosen < 0 ? chosen + static_cast<std::int32_t>(extent) : chosen);
      for (std::size_t i = 0; i < inner; ++i) result.push_back(values[(o * extent + at) * inner + i]);
    }
  }
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("take replaces an axis by those of the indices", "[take]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<3>(3, 5, 7));
  const auto values = numbers_of(x);
  const auto picks = random_indices(12, 3, 1);
  const auto matrix = tensor_of<TestType>(rank<2>(4, 3), picks);
  CHECK(tenon::take(x, matrix, axis<1>).shape() == rank<4>(3, 4, 3, 7));
  CHECK(numbers_of(tenon::take(x, matrix, axis<0>)) == taken(values, 1, 3, 35, picks));
  CHECK(numbers_of(tenon::take(x, matrix, axis<1>)) == taken(values, 3, 5, 7, picks));
  CHECK(numbers_of(tenon::take(x, matrix, axis<-1>)) == taken(values, 15, 7, 1, picks));
  const auto bytes = tensor_of<TestType>(rank<1>(2), std::vector<std::uint8_t>{4, 1});
  CHECK(numbers_of(tenon::take(x * 2, bytes, axis<1>) / 2) == taken(values, 3, 5, 7, {4, 1}));
  CHECK(numbers_of(tenon::take(x, tenon::arange<std::int64_t>(6, 0, -3), axis<2>)) == taken(values, 15, 7, 1, {6, 3}));
  const auto last = tensor_of<TestType>(shape<>{}, std::vector<std::int64_t>{-1});
  CHECK(tenon::take(x, last, axis<1>).shape() == rank<2>(3, 7));
  CHECK(numbers_of(tenon::take(x, last, axis<1>)) == taken(values, 3, 5, 7, {4}));
  CHECK(numbers_of(tenon::take(x, counting<std::int32_t, TestType>(rank<1>(0)), axis<1>)).empty());
}

TEMPLATE_LIST_TEST_CASE("a long axis is taken in packs", "[take]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(2, 203));
  const auto picks = random_indices(317, 203, 2);
  const auto indices = tensor_of<TestType>(rank<1>(317), picks);
  const auto expected = taken(numbers_of(x), 2, 203, 1, picks);
  CHECK(numbers_of(tenon::take(x, indices, axis<1>)) == expected);
  CHECK(numbers_of(tenon::take(x, tenon::trusted(indices), axis<1>)) == expected);
  double total = 0;
  for (const double each : expected) total += each;
  CHECK(numbers_of(tenon::sum(tenon::take(tenon::cast<double>(x), indices, axis<1>))) == numbers{total});
}

TEMPLATE_LIST_TEST_CASE("take_along_axis picks one element for each index", "[take]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<3>(3, 5, 7), 100, -1);
  const auto values = numbers_of(x);
  const auto picks = random_indices(3 * 2 * 7, 5, 3);
  numbers expected, shared;
  for (std::size_t n = 0; n < 3; ++n) {
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t k = 0; k < 7; ++k) {
        const auto pick = [&](std::size_t number) {
          const auto chosen = static_cast<std::size_t>((picks[number] + 5) % 5);
          return values[(n * 5 + chosen) * 7 + k];
        };
        expected.push_back(pick((n * 2 + i) * 7 + k));
        shared.push_back(pick(n));
      }
    }
  }
  CHECK(numbers_of(tenon::take_along_axis(x, tensor_of<TestType>(rank<3>(3, 2, 7), picks), axis<1>)) == expected);
  const auto per_part =
      tensor_of<TestType>(rank<3>(3, 1, 1), std::vector<std::int32_t>(picks.begin(), picks.begin() + 3));
  const auto one_each = tenon::take_along_axis(x, per_part, axis<1>);
  CHECK(one_each.shape() == rank<3>(3, 1, 7));
  CHECK(numbers_of(one_each + tenon::constants<float>(rank<3>(3, 2, 7), 0.0f)) == shared);
  const auto row = counting<float, TestType>(rank<2>(1, 9));
  const auto orders = tensor_of<TestType>(rank<2>(2, 3), std::vector<std::int32_t>{8, 0, 1, -1, -2, 4});
  CHECK(numbers_of(tenon::take_along_axis(row, orders, axis<1>)) == numbers{8, 0, 1, 8, 7, 4});
}

TEMPLATE_LIST_TEST_CASE("what argmax finds, take_along_axis reads", "[take]", tenon_test::spaces) {
  const auto values = tenon_test::random_values<float>(6 * 37, 4);
  const auto x = tensor_of<TestType>(rank<2>(6, 37), values);
  CHECK(numbers_of(tenon::take_along_axis(x, tenon::argmax(x, axis<1>), axis<1>)) ==
        numbers_of(tenon::max(x, axis<1>)));
  CHECK(numbers_of(tenon::take_along_axis(x, tenon::argmin(x, axis<0>), axis<0>)) ==
        numbers_of(tenon::min(x, axis<0>)));
}

TEMPLATE_LIST_TEST_CASE("what a statement overwrites is read first by take", "[take]", tenon_test::spaces) {
  auto x = counting<std::int32_t, TestType>(rank<1>(50));
  const auto picks = random_indices(50, 50, 5);
  const auto indices = tensor_of<TestType>(rank<1>(50), picks);
  const auto expected = taken(numbers_of(x), 1, 50, 1, picks);
  x = tenon::take(x, indices, axis<0>);
  CHECK(numbers_of(x) == expected);
  auto order = tensor_of<TestType>(rank<1>(4), std::vector<std::int32_t>{3, 0, 1, 2});
  order = tenon::take(order, order, axis<0>);
  CHECK(numbers_of(order) == numbers{2, 3, 0, 1});
}

TEST_CASE("static extents survive take", "[take]") {
  const tenon::tensor<float, shape<2, 3, 4>> x;
  const tenon::tensor<std::int32_t, shape<5, 6>> indices = tenon::constants<std::int32_t>(shape<5, 6>{}, 0);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::take(x, indices, axis<1>))::shape_type, shape<2, 5, 6, 4>>);
}

TEST_CASE("an index outside the axis is named", "[take]") {
  const auto x = counting<float>(rank<2>(2, 3));
  const auto indices = tensor_of<tenon::host>(rank<1>(3), std::vector<std::int32_t>{0, 3, -1});
  CHECK(text_of<tenon::index_error>([&] { tenon::take(x, indices, axis<-1>); }) ==
        "take: axis 1: index 3, expected at least -3 and below 3");
  CHECK(text_of<tenon::index_error>([&] { tenon::take(x, indices - 3, axis<0>); }) ==
        "take: axis 0: index -4, expected at least -2 and below 2");
  const auto huge = tensor_of<tenon::host>(rank<1>(2), std::vector<std::uint64_t>{1, ~std::uint64_t{0}});
  CHECK(text_of<tenon::index_error>([&] { tenon::take(x, huge, axis<0>); }) ==
        "take: axis 0: index 18446744073709551615, expected at least -2 and below 2");
  const auto square = tensor_of<tenon::host>(rank<2>(3, 1), std::vector<std::int32_t>{0, 0, 0});
  CHECK(text_of<tenon::index_error>([&] { tenon::take_along_axis(x, square - 9, axis<1>); }) ==
        "take_along_axis: axis 1: index -9, expected at least -3 and below 3");
  CHECK(tenon_test::has(text_of<tenon::shape_error>([&] { tenon::take_along_axis(x, square, axis<1>); }),
                        "take_along_axis: axis 0: extents 2 and 3 differ"));
}
