// tests/host/fold_columns.cpp: neighbouring results side by side, of any number of rows and on any threads.
// The tree of blocks is compared with the cascade of single states, results with loops in double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/fold.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

using tenon::drop;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

/// Depends on order and grouping.
struct ordered_monoid {
  template <class State>
  static State identity() {
    return 1;
  }
  static unsigned combine(unsigned left, unsigned right) { return 31 * left + right * right; }
};

tenon::tensor<float, rank<2>> random_matrix(tenon::index rows, tenon::index columns) {
  return tenon_test::tensor_of<tenon::host>(
      rank<2>(rows, columns), tenon_test::random_values<float>(static_cast<std::size_t>(rows * columns), 7, 0, 1));
}

}  // namespace

TEST_CASE("rows of states are combined as single states are", "[fold_columns]") {
  for (const tenon::index rows : {1, 2, 3, 5, 8, 13, 64, 100}) {
    tenon::cascade<ordered_monoid, unsigned> single;
    tenon::detail::cascade_of_rows<ordered_monoid, unsigned> several(3, rows, nullptr);
    for (tenon::index row = 0; row < rows; ++row) {
      const auto value = static_cast<unsigned>(row * row + 7);
      single.push(value);
      for (unsigned i = 0; i < 3; ++i) several.next()[i] = value + i;
      several.push();
    }
    CAPTURE(rows);
    CHECK(several.total()[0] == single.total());
  }
}

TEST_CASE("columns of any length, and any number of them", "[fold_columns]") {
  for (const tenon::index rows : {1, 3, 4, 5, 31, 32, 63, 64, 65, 130, 1000, 5003}) {
    for (const tenon::index columns : {2, 3, 5, 12, 15, 16, 33, 4095, 4097, 9000}) {
      if ((rows > 130 && columns > 33) || (rows > 1000 && columns > 12)) continue;
      const auto x = random_matrix(rows, columns);
      const tenon::tensor<float, rank<1>> sums = tenon::sum(x, drop<0>), greatest = tenon::max(x, drop<0>);
      const tenon::tensor<tenon::index, rank<1>> where = tenon::argmax(x, drop<0>);
      const tenon::tensor<float, rank<1>> spread = tenon::variance(x, drop<0>);
      tenon::index wrong = 0;
      for (tenon::index column = 0; column < columns; ++column) {
        double sum = 0, squares = 0;
        tenon::index best = 0;
        for (tenon::index row = 0; row < rows; ++row) {
          sum += static_cast<double>(x(row, column));
          if (x(row, column) > x(best, column)) best = row;
        }
        const double mean = sum / static_cast<double>(rows);
        for (tenon::index row = 0; row < rows; ++row) {
          squares += (static_cast<double>(x(row, column)) - mean) * (static_cast<double>(x(row, column)) - mean);
        }
        const double variance = squares / static_cast<double>(rows);
        wrong += std::fabs(static_cast<double>(sums(column)) - sum) > 1e-6 * sum;
        wrong += std::fabs(static_cast<double>(spread(column)) - variance) > 1e-5;
        wrong += where(column) != best || greatest(column) != x(best, column);
      }
      CAPTURE(rows, columns);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("narrow columns have the same bits where their rows lie side by side and where they lie apart",
          "[fold_columns]") {
  for (const tenon::index columns : {2, 3, 7, 12, 31}) {
    const auto x = random_matrix(2 * 1501, columns);
    const auto first = tenon::range(0, 1501), every_second = tenon::range(0, 2 * 1501, 2);
    const auto apart = tenon::slice(x, every_second);
    const auto beside = tenon::evaluated_tensor(apart);
    const auto across = tenon::evaluated_tensor(tenon::transpose(beside));
    const auto same_for = [&](const auto& columns_of) {
      const auto expected = numbers_of(columns_of(beside));
      CHECK(numbers_of(columns_of(apart)) == expected);
      CHECK(numbers_of(columns_of(tenon::transpose(across))) == expected);
      const auto twice = tenon::evaluated_tensor(tenon::stack(tenon::axis<0>, beside, beside));
      auto repeated = expected;
      repeated.insert(repeated.end(), expected.begin(), expected.end());
      CHECK(numbers_of(columns_of(twice)) == repeated);
      return expected;
    };
    CAPTURE(columns);
    same_for([](const auto& rows) { return tenon::sum(rows, tenon::drop<-2>); });
    same_for([](const auto& rows) { return tenon::variance(rows, tenon::drop<-2>); });
    same_for([](const auto& rows) { return tenon::min(1 + rows, tenon::drop<-2>); });
    same_for([](const auto& rows) { return tenon::argmax(rows, tenon::drop<-2>); });
    const auto counts = same_for([](const auto& rows) { return tenon::sum(rows > 0.25f, tenon::drop<-2>); });
    const auto some = same_for([](const auto& rows) { return tenon::any(rows > 0.999f, tenon::drop<-2>); });
    for (tenon::index column = 0; column < columns; ++column) {
      tenon::index above = 0;
      bool is_any = false;
      for (tenon::index row = 0; row < 1501; ++row) {
        above += beside(row, column) > 0.25f;
        is_any = is_any || beside(row, column) > 0.999f;
      }
      CHECK(counts[static_cast<std::size_t>(column)] == static_cast<double>(above));
      CHECK(some[static_cast<std::size_t>(column)] == (is_any ? 1.0 : 0.0));
    }
    CHECK(numbers_of(tenon::sum(tenon::slice(x, first) * 1.0f, drop<0>)) ==
          numbers_of(tenon::sum(tenon::slice(x, first), drop<0>)));
  }
}

TEST_CASE("narrow columns of positions, of whole numbers, and of rows that repeat", "[fold_columns]") {
  const auto numbers =
      tenon::evaluated_tensor(tenon::reshape(tenon::arange<std::int64_t>(0, 3 * 1000), rank<2>(1000, 3)));
  CHECK(numbers_of(tenon::sum(numbers, drop<0>)) == std::vector<double>{1498500, 1499500, 1500500});
  const auto drawn = tenon::uniform<float>(rank<2>(1000, 3), 5);
  CHECK(numbers_of(tenon::max(drawn, drop<0>)) == numbers_of(tenon::max(tenon::evaluated_tensor(drawn), drop<0>)));
  const tenon::tensor<std::int64_t, rank<1>> row = {1, 2, 4};
  CHECK(numbers_of(tenon::sum(numbers - numbers + row, drop<0>)) == std::vector<double>{1000, 2000, 4000});
}

TEST_CASE("short rows are folded as many at a time as packs hold", "[fold_columns]") {
  for (const tenon::index columns : {2, 3, 5, 8, 15, 17, 31, 32, 33}) {
    for (const tenon::index rows : {3, 40, 300, 5000}) {
      const auto x = random_matrix(rows, columns + 1);
      const auto y = tenon::slice(x, tenon::range(0, rows), tenon::range(1, columns + 1));
      const auto before = tenon::slice(x, tenon::range(0, rows), tenon::range(0, columns));
      const auto centre = tenon::evaluated_tensor(tenon::mean(y, tenon::axis<0>));
      const auto steps = numbers_of(tenon::sum(y - 2.0f * before, drop<1>));
      const auto distances = numbers_of(tenon::sum((y - centre) * (y - centre), drop<1>));
      const auto doubled = numbers_of(tenon::sum(tenon::cast<double>(y) * 2.0, drop<1>));
      const auto greatest = numbers_of(tenon::max(y, drop<1>)), where = numbers_of(tenon::argmin(y, drop<1>));
      const auto shares = numbers_of(tenon::sum(tenon::softmax(y, tenon::axis<1>), drop<1>));
      tenon::index wrong = 0;
      for (tenon::index row = 0; row < rows; ++row) {
        const auto at = static_cast<std::size_t>(row);
        double squares = 0, sum = 0, most = 0, difference = 0;
        tenon::index least = 0;
        for (tenon::index i = 0; i < columns; ++i) {
          const double value = static_cast<double>(y(row, i)), step = value - static_cast<double>(centre(0, i));
          squares += step * step, sum += 2 * value;
          difference += value - 2 * static_cast<double>(before(row, i));
          most = value > most ? value : most;
          if (y(row, i) < y(row, least)) least = i;
        }
        wrong += std::fabs(distances[at] - squares) > 1e-5 * squares || std::fabs(doubled[at] - sum) > 1e-12 * sum;
        wrong += std::fabs(steps[at] - difference) > 1e-5 * sum;
        wrong += greatest[at] != most || where[at] != static_cast<double>(least) || std::fabs(shares[at] - 1) > 1e-5;
      }
      CAPTURE(rows, columns);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("columns of costly values are those of the values in memory, with steps or without", "[fold_columns]") {
  for (const tenon::index rows : {1, 2, 3, 4, 5, 7, 66}) {
    for (const tenon::index columns : {2, 15, 17, 40, 600}) {
      const auto x = random_matrix(rows, columns), across = random_matrix(columns, rows);
      const auto powers = tenon::evaluated_tensor(tenon::exp(x));
      const auto powers_across = tenon::evaluated_tensor(tenon::exp(tenon::transpose(across)));
      CAPTURE(rows, columns);
      CHECK(numbers_of(tenon::sum(tenon::exp(x), drop<0>)) == numbers_of(tenon::sum(powers, drop<0>)));
      CHECK(numbers_of(tenon::max(tenon::exp(x), drop<0>)) == numbers_of(tenon::max(powers, drop<0>)));
      CHECK(numbers_of(tenon::sum(tenon::exp(tenon::transpose(across)), drop<0>)) ==
            numbers_of(tenon::sum(powers_across, drop<0>)));
    }
  }
}

TEST_CASE("a few long columns are shared among threads and stay the same", "[fold_columns]") {
  for (const tenon::index columns : {2, 7, 64, 100}) {
    const auto x = random_matrix(columns < 64 ? 50021 : 20011, columns);
    CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::sum(x, drop<0>)); }));
    CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::variance(x, drop<0>)); }));
    CHECK(tenon_test::is_same_on_any_threads(
        [&] { return numbers_of(tenon::sum(x - tenon::mean(x, tenon::axis<0>), drop<0>)); }));
  }
}

TEST_CASE("columns without rows are what their monoid starts from", "[fold_columns]") {
  const tenon::tensor<float, rank<2>> x({0, 5});
  const tenon::tensor<float, rank<1>> sums = tenon::sum(x, drop<0>);
  CHECK(numbers_of(sums) == std::vector<double>(5, 0.0));
}
