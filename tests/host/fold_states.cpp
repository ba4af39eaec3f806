// tests/host/fold_states.cpp: variances, positions of extremes and truth values of neighbours beside plain loops.
// Columns and short rows of any number, with NaN, infinities and ties, in memory and computed.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/fold_states.hpp>

#include <cmath>
#include <limits>
#include <tenon/expr/statistics.hpp>
#include <tenon/expr/views/permute.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/random.hpp"

namespace {

using tenon::drop;
using tenon::rank;
using numbers = std::vector<double>;

/// The values of one result, in order.
struct folded_numbers {
  numbers values;

  double extreme_position(bool greatest) const {
    std::size_t found = 0;
    for (std::size_t i = 1; i < values.size(); ++i) {
      const bool beyond = greatest ? values[i] > values[found] : values[i] < values[found];
      if (!std::isnan(values[found]) && (std::isnan(values[i]) || beyond)) found = i;
    }
    return static_cast<double>(found);
  }
  double variance() const {
    double total = 0, distance = 0;
    for (const double each : values) total += each;
    const double count = static_cast<double>(values.size()), mean = total / count;
    for (const double each : values) distance += (each - mean) * (each - mean);
    return distance / count;
  }
  double count_above(double limit) const {
    double count = 0;
    for (const double each : values) count += each > limit;
    return count;
  }
};

template <class T>
tenon::tensor<T, rank<2>> drawn_matrix(tenon::index rows, tenon::index columns, tenon_test::random_source& random) {
  tenon::tensor<T, rank<2>> result({rows, columns});
  for (tenon::index i = 0; i < result.size(); ++i)
    result.data()[i] = static_cast<T>(static_cast<float>(random.below(7)) - 3);
  return result;
}

/// What reductions of the rows and columns of a matrix give, beside loops.
template <class Matrix>
void check_matrix(const Matrix& x) {
  const tenon::index m = x.shape().extent(0), n = x.shape().extent(1);
  CAPTURE(m, n);
  const numbers all = tenon_test::numbers_of(x);
  std::vector<folded_numbers> rows(static_cast<std::size_t>(m)), columns(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < all.size(); ++i) {
    rows[i / columns.size()].values.push_back(all[i]), columns[i % columns.size()].values.push_back(all[i]);
  }
  const auto check = [&](const auto& of_columns, const auto& of_rows, const auto& expected, double tolerance) {
    numbers column_results, row_results;
    for (const auto& each : columns) column_results.push_back(expected(each));
    for (const auto& each : rows) row_results.push_back(expected(each));
    CHECK(tenon_test::difference(tenon_test::numbers_of(of_columns), column_results, tolerance) == "");
    CHECK(tenon_test::difference(tenon_test::numbers_of(of_rows), row_results, tolerance) == "");
  };
  using element = typename Matrix::element;
  const auto zero = static_cast<element>(0.0f);
  check(
      tenon::argmax(x, drop<0>), tenon::argmax(x, drop<1>),
      [](const folded_numbers& each) { return each.extreme_position(true); }, 0);
  check(
      tenon::argmin(x, drop<0>), tenon::argmin(x, drop<1>),
      [](const folded_numbers& each) { return each.extreme_position(false); }, 0);
  check(
      tenon::variance(x, drop<0>), tenon::variance(x, drop<1>),
      [](const folded_numbers& each) { return each.variance(); }, std::is_same_v<element, tenon::half> ? 2e-3 : 1e-5);
  check(
      tenon::count_nonzero(x > zero, drop<0>), tenon::count_nonzero(x > zero, drop<1>),
      [](const folded_numbers& each) { return each.count_above(0); }, 0);
  check(
      tenon::mean(x > zero, drop<0>), tenon::mean(x > zero, drop<1>),
      [](const folded_numbers& each) { return each.count_above(0) / static_cast<double>(each.values.size()); }, 1e-6);
  check(
      tenon::any(x > zero, drop<0>), tenon::any(x > zero, drop<1>),
      [](const folded_numbers& each) { return each.count_above(0) > 0 ? 1.0 : 0.0; }, 0);
  check(
      tenon::all(x > zero, drop<0>), tenon::all(x > zero, drop<1>),
      [](const folded_numbers& each) { return each.count_above(0) == static_cast<double>(each.values.size()); }, 0);
}

}  // namespace

TEMPLATE_TEST_CASE("columns and short rows are those of loops", "[fold_states]", float, double, std::int8_t,
                   std::int64_t, tenon::half) {
  tenon_test::random_source random(71);
  for (int round = 0; round < 12; ++round) {
    const auto drawn = [&](int most) { return static_cast<tenon::index>(1 + random.below(most)); };
    const tenon::index few = drawn(40), many = drawn(round % 3 == 0 ? 300 : 20);
    const auto tall = drawn_matrix<TestType>(many, few, random), wide = drawn_matrix<TestType>(few, many, random);
    check_matrix(tall);
    check_matrix(wide);
    check_matrix(tenon::transpose(wide));
  }
}

TEST_CASE("NaN, infinities and ties of neighbours", "[fold_states]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  tenon_test::random_source random(72);
  const float special[] = {nan, infinite, -infinite, 0.0f, -0.0f, 1, 1, -1};
  for (int round = 0; round < 20; ++round) {
    tenon::tensor<float, rank<2>> x(
        {static_cast<tenon::index>(1 + random.below(70)), static_cast<tenon::index>(1 + random.below(40))});
    for (tenon::index i = 0; i < x.size(); ++i) {
      const std::int64_t drawn = random.below(round % 2 == 0 ? 60 : 9);
      x.data()[i] = drawn < 8 ? special[drawn] : static_cast<float>(drawn % 5);
    }
    numbers positions(static_cast<std::size_t>(x.shape().extent(1)));
    bool is_finite = true;
    for (tenon::index j = 0; j < x.shape().extent(1); ++j) {
      folded_numbers column;
      for (tenon::index i = 0; i < x.shape().extent(0); ++i) column.values.push_back(x(i, j));
      positions[static_cast<std::size_t>(j)] = column.extreme_position(true);
      for (const double each : column.values) is_finite = is_finite && std::isfinite(each);
      const float variance = tenon::evaluated_tensor(tenon::variance(x, drop<0>))(j);
      CHECK(std::isnan(variance) == std::isnan(column.variance()));
    }
    CHECK(tenon_test::numbers_of(tenon::argmax(x, drop<0>)) == positions);
    CHECK(static_cast<bool>(tenon::all(tenon::isfinite(x))) == is_finite);
    CHECK(static_cast<bool>(tenon::any(!tenon::isfinite(x))) == !is_finite);
  }
}

TEST_CASE("variances of neighbours keep their digits far from 0", "[fold_states]") {
  tenon_test::random_source random(11);
  for (const tenon::index count : {2, 5, 15, 50, 64}) {
    CAPTURE(count);
    tenon::tensor<float, rank<2>> x({count, 21});
    for (tenon::index i = 0; i < x.size(); ++i) {
      x.data()[i] = 10000 + static_cast<float>(static_cast<double>(random.below(4000)) / 1000 - 2);
    }
    const numbers columns = tenon_test::numbers_of(tenon::variance(x, drop<0>)),
                  rows = tenon_test::numbers_of(tenon::variance(tenon::transpose(x), drop<1>));
    for (tenon::index j = 0; j < 21; ++j) {
      folded_numbers column;
      for (tenon::index i = 0; i < count; ++i) column.values.push_back(static_cast<double>(x(i, j)));
      const double expected = column.variance(), place = static_cast<double>(j);
      CAPTURE(place);
      CHECK(std::fabs(columns[static_cast<std::size_t>(j)] - expected) <= 3e-6 * expected);
      CHECK(std::fabs(rows[static_cast<std::size_t>(j)] - expected) <= 3e-6 * expected);
    }
  }
}

TEST_CASE("many truth values are counted exactly", "[fold_states]") {
  const tenon::tensor<bool, rank<1>> truths = tenon::constants(rank<1>(100003), true);
  CHECK(static_cast<tenon::index>(tenon::sum(truths)) == 100003);
  CHECK(static_cast<tenon::index>(tenon::count_nonzero(truths)) == 100003);
  CHECK(static_cast<float>(tenon::mean(truths)) == 1.0f);
  CHECK(static_cast<bool>(tenon::all(truths)));
  CHECK(!static_cast<bool>(tenon::any(!truths)));
  const tenon::tensor<bool, rank<2>> columns = tenon::constants(rank<2>(5000, 37), true);
  CHECK(tenon_test::numbers_of(tenon::sum(columns, drop<0>)) == numbers(37, 5000.0));
}
