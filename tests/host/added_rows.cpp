// tests/host/added_rows.cpp: rows of values, added eight and four at a time.
// Sums, products and extremes of columns beside loops one by one; rows that lie apart, wrap around and end early.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/fold.hpp>
#include <tenon/tenon.hpp>

#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/threads.hpp"

using tenon::drop;
using tenon::range;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

/// Whole numbers whose sums floats hold exactly.
template <class T, class Shape>
tenon::tensor<T, Shape> small_numbers(const Shape& extents) {
  tenon::tensor<T, Shape> result(extents);
  for (tenon::index i = 0; i < result.size(); ++i) result.data()[i] = static_cast<T>(i * 7 % 11 - 3);
  return result;
}

/// The sums over the middle axis of `x`, one by one.
template <class View>
std::vector<double> middle_sums(const View& x) {
  std::vector<double> sums;
  for (tenon::index i = 0; i < x.extent(0); ++i) {
    for (tenon::index k = 0; k < x.extent(2); ++k) {
      double sum = 0;
      for (tenon::index j = 0; j < x.extent(1); ++j) sum += static_cast<double>(x(i, j, k));
      sums.push_back(sum);
    }
  }
  return sums;
}

/// A fold as a walk sees it: three reduced rows of two positions, and three results.
struct walked_fold {
  static constexpr int rank = 3;
  tenon::strided_source<float, 3> program;
  tenon::array<tenon::index, 3> extents;
  int kept = 0;
};

}  // namespace

TEST_CASE("sums over a middle axis, of any number of rows", "[added_rows]") {
  for (const tenon::index rows : {0, 1, 7, 8, 9, 12, 15, 16, 23, 64, 65, 200}) {
    for (const tenon::index width : {2, 15, 16, 40, 64, 129}) {
      const auto x = small_numbers<float>(rank<3>(3, rows, width));
      const auto whole = small_numbers<int>(rank<3>(3, rows, width));
      const auto wide = small_numbers<double>(rank<3>(3, rows, width));
      CAPTURE(rows, width);
      CHECK(numbers_of(tenon::sum(x, drop<1>)) == middle_sums(x));
      CHECK(numbers_of(tenon::sum(x * 1.0f, drop<1>)) == middle_sums(x));
      CHECK(numbers_of(tenon::sum(whole, drop<1>)) == middle_sums(x));
      CHECK(numbers_of(tenon::sum(wide, drop<1>)) == middle_sums(x));
    }
  }
}

TEST_CASE("rows that lie apart, and rows of two axes", "[added_rows]") {
  const auto x = small_numbers<float>(rank<3>(4, 37, 83));
  const auto part = tenon::slice(x, range(0, 4), range(1, 37, 2), range(3, 70));
  CHECK(numbers_of(tenon::sum(part, drop<1>)) == middle_sums(part));
  const auto back = tenon::flip(part, tenon::axis<1>);
  CHECK(numbers_of(tenon::sum(back, drop<1>)) == middle_sums(part));
  const auto four = small_numbers<float>(rank<4>(2, 3, 5, 70));  // 15 rows, five of which follow one another
  const auto moved = tenon::evaluated_tensor(tenon::permute(four, tenon::axis<0, 2, 1, 3>));
  const auto expected = numbers_of(tenon::sum(four, drop<1, 2>));
  CHECK(expected == middle_sums(tenon::evaluated_tensor(tenon::reshape(four, rank<3>(2, 15, 70)))));
  CHECK(numbers_of(tenon::sum(tenon::permute(moved, tenon::axis<0, 2, 1, 3>), drop<1, 2>)) == expected);
}

TEST_CASE("large sums of narrow rows, and of computed ones, are the same on any number of threads", "[added_rows]") {
  const auto x = small_numbers<float>(rank<3>(300, 70, 64));  // more than caches hold
  const auto expected = middle_sums(x);
  for (const int threads : {1, 3}) {
    tenon::set_num_threads(threads);
    CHECK(numbers_of(tenon::sum(x, drop<1>)) == expected);
    CHECK(numbers_of(tenon::sum(x + x - x, drop<1>)) == expected);
  }
  tenon::set_num_threads(0);
}

TEST_CASE("extremes of columns keep NaN", "[added_rows]") {
  auto x = small_numbers<float>(rank<2>(43, 50));
  x(17, 3) = std::numeric_limits<float>::quiet_NaN();
  x(42, 49) = std::numeric_limits<float>::quiet_NaN();
  const auto most = numbers_of(tenon::max(x, drop<0>));
  for (std::size_t column = 0; column < 50; ++column) {
    CHECK(std::isnan(most[column]) == (column == 3 || column == 49));
  }
}

TEST_CASE("a walk gives the rows in order, eight at a time and one by one", "[added_rows]") {
  const auto x = small_numbers<float>(rank<3>(3, 13, 2));
  const walked_fold fold{{x.data(), {{26, 2, 1}}}, {{3, 13, 2}}};
  tenon::detail::row_walk<walked_fold> walk(fold, {}, 0);
  tenon::index row = 0;
  for (int times = 0; times < 4; ++times) {
    for (const auto& cursor : walk.next_eight()) CHECK(cursor.data == x.data() + 2 * row++);
    CHECK(walk.next().data == x.data() + 2 * row++);
  }
  for (int last = 0; last < 3; ++last) CHECK(walk.next().data == x.data() + 2 * row++);
}
