// tests/core/strided_iterator.cpp: loops over one axis of a view, and algorithms of the standard library.
// Rows, columns and reversed rows are compared with what the library does to the same numbers in a vector.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/strided_iterator.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <ranges>
#include <tenon/expressions.hpp>
#include <vector>

#include "support/catch.hpp"

namespace {

using tenon::all_of;
using walker = tenon::detail::strided_iterator<float>;
static_assert(std::random_access_iterator<walker>);
static_assert(std::is_same_v<std::iterator_traits<walker>::iterator_category, std::random_access_iterator_tag>);
static_assert(std::ranges::random_access_range<tenon::view<const float, tenon::rank<1>>>);
static_assert(!std::ranges::range<tenon::view<float, tenon::rank<2>>>);

tenon::tensor<float, tenon::rank<2>> table() { return {{5, 2, 9}, {1, 8, 3}, {7, 4, 6}, {0, 11, 10}}; }

template <class Range>
std::vector<float> walked(const Range& range) {
  std::vector<float> values;
  for (const float value : range) values.push_back(value);
  return values;
}

}  // namespace

TEST_CASE("a loop goes over a row, a column and backwards", "[strided_iterator]") {
  const auto x = table();
  CHECK(walked(x[1]) == std::vector<float>{1, 8, 3});
  CHECK(walked(x(all_of, 2)) == std::vector<float>{9, 3, 6, 10});
  CHECK(walked(tenon::flip(x, tenon::axis<0>)(all_of, 0)) == std::vector<float>{0, 7, 1, 5});
  CHECK(walked(x(tenon::range(1, 1), 0)).empty());
  CHECK(walked(tenon::view<const float, tenon::rank<1>>(x.data(), tenon::rank<1>(3), {{0}})) ==
        std::vector<float>{5, 5, 5});
}

TEST_CASE("algorithms of the standard library take columns", "[strided_iterator]") {
  auto x = table();
  std::ranges::sort(x(all_of, 1));
  CHECK(walked(x(all_of, 1)) == std::vector<float>{2, 4, 8, 11});
  CHECK(walked(x(all_of, 0)) == std::vector<float>{5, 1, 7, 0});
  const auto column = x(all_of, 2);
  CHECK(std::accumulate(column.begin(), column.end(), 0.0f) == 28);
  CHECK(std::max_element(column.begin(), column.end()) - column.begin() == 3);
  std::reverse(column.begin(), column.end());
  CHECK(walked(column) == std::vector<float>{10, 6, 3, 9});
  for (float& value : x[0]) value *= 2;
  CHECK(walked(x[0]) == std::vector<float>{10, 4, 20});
}

TEST_CASE("an iterator outlives the view that made it", "[strided_iterator]") {
  static_assert(std::ranges::borrowed_range<tenon::view<float, tenon::rank<1>>>);
  static_assert(!std::ranges::borrowed_range<tenon::tensor<float, tenon::rank<1>>>);
  const auto x = table();
  CHECK(&*std::ranges::max_element(x[0]) == &x(0, 2));
  CHECK(*std::ranges::find_if(x(all_of, 1), [](float value) { return value > 4; }) == 8);
  CHECK(walked(std::ranges::subrange(x[3]) | std::views::reverse) == std::vector<float>{10, 11, 0});
}

TEST_CASE("iterators step, compare and subtract", "[strided_iterator]") {
  const auto x = table();
  const auto column = x(all_of, 0);
  auto at = column.begin();
  CHECK(*at++ == 5);
  CHECK(*at == 1);
  CHECK(*++at == 7);
  CHECK(*at-- == 7);
  CHECK(*--at == 5);
  CHECK(at[3] == 0);
  CHECK(*(2 + at) == 7);
  CHECK(column.end() - at == 4);
  CHECK(at < column.end() - 1);
  CHECK(*(column.end() -= 2) == 7);
  CHECK(*column.begin().operator->() == 5);
}
