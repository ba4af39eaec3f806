// tests/host/reduce.cpp: the loops of statements that reduce.
// Results side by side or along themselves, long and short, are compared with sums in double.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <tenon/host/reduce.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/threads.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;

namespace {

/// Row and column sums of x, in double.
struct sums {
  std::vector<double> rows, columns;
};

sums by_definition(const tenon::tensor<float, rank<2>>& x) {
  sums result{std::vector<double>(static_cast<std::size_t>(x.extent(0)), 0.0),
              std::vector<double>(static_cast<std::size_t>(x.extent(1)), 0.0)};
  for (tenon::index i = 0; i < x.extent(0); ++i) {
    for (tenon::index j = 0; j < x.extent(1); ++j) {
      result.rows[static_cast<std::size_t>(i)] += static_cast<double>(x(i, j));
      result.columns[static_cast<std::size_t>(j)] += static_cast<double>(x(i, j));
    }
  }
  return result;
}

}  // namespace

TEST_CASE("rows and columns of every length", "[reduce]") {
  for (const tenon::index rows : {1, 3, 64, 129, 1025}) {
    for (const tenon::index columns : {1, 2, 15, 63, 64, 65, 1025}) {
      const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(rows, columns), 3));
      const sums expected = by_definition(x);
      CAPTURE(rows, columns);
      CHECK(difference(numbers_of(tenon::sum(x, axis<1>)), expected.rows, 1e-6) == "");
      CHECK(difference(numbers_of(tenon::sum(x, axis<0>)), expected.columns, 1e-6) == "");
      CHECK(difference(numbers_of(tenon::sum(tenon::transpose(x), axis<0>)), expected.rows, 1e-6) == "");
      CHECK(difference(numbers_of(tenon::sum(tenon::transpose(x), axis<1>)), expected.columns, 1e-6) == "");
    }
  }
}

TEST_CASE("short axes are one run where they lie side by side, and results are neighbours else", "[reduce]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<4>(3, 20, 7, 6), 3));
  const auto part = tenon::slice(x, tenon::range(), tenon::range(), tenon::range(), tenon::range(0, 5));
  const auto along_kept = [](const auto& operand) {
    return tenon::detail::folds_along_kept<0>(tenon::sum(operand, tenon::drop<0, 2, 3>), rank<1>(20).to_array());
  };
  CHECK(!along_kept(x));
  CHECK(along_kept(part));
  const auto wide = tenon::evaluated_tensor(tenon::uniform<float>(rank<4>(3, 20, 7, 12), 3));
  CHECK(along_kept(tenon::slice(wide, tenon::range(), tenon::range(), tenon::range(), tenon::range(0, 12, 2))));
  std::vector<double> of_whole(20), of_part(20);
  for (tenon::index i = 0; i < x.size(); ++i) {
    const auto channel = static_cast<std::size_t>(i / 42 % 20);
    const double value = static_cast<double>(x.data()[i]);
    of_whole[channel] += value, of_part[channel] += i % 6 < 5 ? value : 0.0;
  }
  CHECK(difference(numbers_of(tenon::sum(x, tenon::drop<0, 2, 3>)), of_whole, 1e-5) == "");
  CHECK(difference(numbers_of(tenon::sum(part, tenon::drop<0, 2, 3>)), of_part, 1e-5) == "");
}

TEST_CASE("few results side by side are folded so where the values of each lie apart", "[reduce]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(60, 20), 3));
  const auto along_kept = [&](tenon::index columns) {
    const auto slid = tenon::windows(tenon::slice(x, tenon::all_of, tenon::range(0, columns)), axis<0>, {20});
    const auto sums = tenon::sum(slid, tenon::drop<-1>);
    return tenon::detail::folds_along_kept<0>(sums, sums.shape().to_array());
  };
  CHECK(along_kept(8));
  CHECK(along_kept(17));
  CHECK(!along_kept(7));
  const auto columns = tenon::sum(tenon::transpose(x), tenon::drop<1>);
  CHECK(tenon::detail::folds_along_kept<0>(columns, rank<1>(20).to_array()));
}

namespace {

/// Whether squared distances, greatest products and mean values of `points` and `centres`, all of whose values are
/// whole, are those of loops, on any number of threads. Products are of points with centres of their own.
template <class Points, class Centres>
bool has_pairs_right(const Points& points, const Centres& centres) {
  using tenon::new_axis;
  const tenon::index rows = points.extent(0), count = centres.extent(0), length = points.extent(1);
  const auto own = tenon::evaluated_tensor(new_axis<1>(points) + new_axis<0>(centres));
  std::vector<double> squares, greatest, means;
  for (tenon::index i = 0; i < rows; ++i) {
    for (tenon::index k = 0; k < count; ++k) {
      double square = 0, most = -std::numeric_limits<double>::infinity(), mean = 0;
      for (tenon::index j = 0; j < length; ++j) {
        const auto p = static_cast<double>(points(i, j)), q = static_cast<double>(centres(k, j));
        square += (p - q) * (p - q), mean += p + 2 * q;
        most = (p + q) * q > most ? (p + q) * q : most;
      }
      squares.push_back(square), greatest.push_back(most), means.push_back(mean / static_cast<double>(length));
    }
  }
  const auto distances = [&] {
    return numbers_of(tenon::sum(tenon::square(new_axis<1>(points) - new_axis<0>(centres)), tenon::drop<-1>));
  };
  const auto most = numbers_of(tenon::max(own * new_axis<0>(centres), tenon::drop<-1>));
  const auto means_found = numbers_of(tenon::mean(own + new_axis<0>(centres), tenon::drop<-1>));
  return distances() == squares && most == greatest && difference(means_found, means, 1e-5) == "" &&
         tenon_test::is_same_on_any_threads(distances);
}

template <class T>
auto whole_numbers(tenon::index rows, tenon::index columns, tenon::index step) {
  auto result = tenon::tensor<T, rank<2>>({rows, columns});
  for (tenon::index i = 0; i < result.size(); ++i) result.data()[i] = static_cast<T>(i * step % 23 - 11);
  return result;
}

}  // namespace

TEST_CASE("pairs of points of any number of values, side by side and with steps", "[reduce]") {
  for (const tenon::index length : {1, 2, 3, 8, 23, 24, 32, 33}) {
    for (const tenon::index count : {1, 3, 4, 5, 16, 17, 300}) {
      const tenon::index rows = count == 300 ? 3 : 37;
      const auto points = whole_numbers<float>(rows, length, 7), centres = whole_numbers<float>(count, length, 5);
      CAPTURE(length, count);
      CHECK(has_pairs_right(points, centres));
      CHECK(has_pairs_right(whole_numbers<double>(rows, length, 7), whole_numbers<double>(count, length, 5)));
      const auto wide = whole_numbers<float>(2 * count, length + 3, 9);
      const auto some = tenon::slice(wide, tenon::range(0, 2 * count, 2), tenon::range(2, length + 2));
      CHECK(has_pairs_right(points, tenon::evaluated_tensor(some)));
      const auto found =
          numbers_of(tenon::sum(tenon::square(tenon::new_axis<1>(points) - tenon::new_axis<0>(some)), tenon::drop<-1>));
      const auto copied = tenon::evaluated_tensor(some);
      CHECK(found == numbers_of(tenon::sum(tenon::square(tenon::new_axis<1>(points) - tenon::new_axis<0>(copied)),
                                           tenon::drop<-1>)));
    }
  }
}

TEST_CASE("pairs without points, without values and with NaN", "[reduce]") {
  const auto distances = [](const auto& points, const auto& centres) {
    return numbers_of(
        tenon::sum(tenon::square(tenon::new_axis<1>(points) - tenon::new_axis<0>(centres)), tenon::drop<-1>));
  };
  const auto points = whole_numbers<float>(5, 3, 7);
  CHECK(distances(points, whole_numbers<float>(0, 3, 5)).empty());
  CHECK(distances(whole_numbers<float>(0, 3, 5), points).empty());
  CHECK(distances(whole_numbers<float>(2, 0, 5), whole_numbers<float>(4, 0, 5)) == std::vector<double>(8, 0.0));
  auto centres = whole_numbers<float>(19, 3, 5);
  centres(18, 1) = std::numeric_limits<float>::quiet_NaN();
  const auto found = distances(points, centres);
  tenon::index wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) wrong += std::isnan(found[i]) != (i % 19 == 18);
  CHECK(wrong == 0);
}

TEST_CASE("short rows that some operand repeats are folded side by side unless neighbours are few", "[reduce]") {
  const auto along_kept = [](tenon::index count, tenon::index length) {
    const auto points = whole_numbers<float>(37, length, 7), centres = whole_numbers<float>(count, length, 5);
    const auto sums =
        tenon::sum(tenon::square(tenon::new_axis<1>(points) - tenon::new_axis<0>(centres)), tenon::drop<-1>);
    return tenon::detail::folds_along_kept<0>(sums, sums.shape().to_array());
  };
  CHECK(along_kept(4, 23));
  CHECK(along_kept(5, 32));
  CHECK(!along_kept(3, 8));
  CHECK(!along_kept(4, 32));
  CHECK(!along_kept(16, 33));
}

TEST_CASE("wherever columns are cut for threads, their sums are the same", "[reduce]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(300, 1003), 3, -1.0f, 1.0f));
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::sum(x, axis<0>)); }));
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::variance(x, axis<0>)); }));
}

TEST_CASE("rows that are read with steps, forwards and backwards", "[reduce]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(9, 5000), 3, -1.0f, 1.0f));
  for (const tenon::index step : {2, 3, 7, -1, -2}) {
    const tenon::range along = step > 0 ? tenon::range(1, 5000, step) : tenon::range(4998, tenon::open_end, step);
    const auto part = tenon::slice(x, tenon::range(0, 9, 2), along);
    std::vector<double> rows(5, 0.0);
    double all = 0;
    for (tenon::index i = 0; i < 5; ++i) {
      for (tenon::index j = 0; j < part.extent(1); ++j) {
        rows[static_cast<std::size_t>(i)] += static_cast<double>(part(i, j)) * static_cast<double>(x(2 * i, 0));
        all += static_cast<double>(part(i, j));
      }
    }
    const auto factors = tenon::slice(x, tenon::range(0, 9, 2), tenon::range(0, 1));
    CAPTURE(step);
    CHECK(difference(numbers_of(tenon::sum(part * factors, axis<1>)), rows, 1e-4) == "");
    CHECK(tenon_test::is_close(static_cast<float>(tenon::sum(part)), all, 1e-3));
  }
}

TEST_CASE("several reductions over different axes meet in one statement", "[reduce]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(70, 70), 3, -1.0f, 1.0f));
  tenon::tensor<float, rank<2>> result({1, 70});
  result = tenon::max(x, axis<0>) + tenon::sum(tenon::transpose(x), axis<0>) * 2;
  const sums expected = by_definition(x);
  for (tenon::index j = 0; j < 70; ++j) {
    float greatest = x(0, j);
    for (tenon::index i = 1; i < 70; ++i) greatest = std::max(greatest, x(i, j));
    const double wanted = static_cast<double>(greatest) + 2 * expected.rows[static_cast<std::size_t>(j)];
    CHECK(tenon_test::is_close(result(0, j), wanted, 1e-5));
  }
}

TEST_CASE("destinations with strides are written, nothing beside them", "[reduce]") {
  const auto x = tenon_test::counting<float>(rank<2>(5, 100));
  tenon::tensor<float, rank<2>> y({5, 2});
  y = -1.0f;
  const auto first = tenon::slice(y, tenon::all_of, tenon::only(0));
  first = tenon::sum(x, axis<1>);
  CHECK(numbers_of(y) == std::vector<double>{4950, -1, 14950, -1, 24950, -1, 34950, -1, 44950, -1});
}

TEST_CASE("threads do not change reductions over any axis", "[reduce]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<3>(40, 50, 60), 3, -1.0f, 1.0f));
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::sum(x, axis<0>)); }));
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::sum(x, axis<1>)); }));
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::variance(x, axis<0, 2>)); }));
}

TEST_CASE("full reductions of several lengths go item by item", "[reduce]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 40001), 7));
  const auto y = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(700, 301), 8)),
             z = tenon_test::counting<float>(rank<2>(3, 5));
  double total = 0, greatest = 0;
  for (const double each : numbers_of(x)) total += each;
  for (const double each : numbers_of(y)) greatest = each > greatest ? each : greatest;
  CHECK(tenon_test::is_same_on_any_threads(
      [&] { return std::vector<float>{tenon::sum(x) + tenon::max(y) * tenon::sum(z) + tenon::sum(x)}; }));
  const double found = static_cast<float>(tenon::sum(x) + tenon::max(y) * tenon::sum(z) + tenon::sum(x));
  CHECK(tenon_test::is_close(found, 2 * total + 105 * greatest, 1e-5));
  CHECK(static_cast<bool>(tenon::all(x >= 0)));
  CHECK_FALSE(static_cast<bool>(tenon::any(x > 1)));
}

namespace {

/// Sums, greatest and least elements of the windows of `length` rows of a table, by definition; NaN where one is NaN.
struct rolled {
  std::vector<double> sums, greatest, least;

  template <class Table>
  rolled(const Table& x, tenon::index length) {
    for (tenon::index row = 0; row + length <= x.extent(0); ++row) {
      for (tenon::index column = 0; column < x.extent(1); ++column) {
        double sum = 0, most = static_cast<double>(x(row, column)), fewest = most;
        for (tenon::index tap = 0; tap < length; ++tap) {
          const double value = static_cast<double>(x(row + tap, column));
          sum += value;
          most = std::isnan(value) || value > most ? value : most;
          fewest = std::isnan(value) || value < fewest ? value : fewest;
        }
        sums.push_back(sum), greatest.push_back(std::isnan(sum) ? sum : most),
            least.push_back(std::isnan(sum) ? sum : fewest);
      }
    }
  }
};

bool are_close(const std::vector<double>& found, const std::vector<double>& expected, double bound) {
  const auto close = [&](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? std::isnan(a) && std::isnan(b) : std::abs(a - b) <= bound;
  };
  return std::equal(found.begin(), found.end(), expected.begin(), expected.end(), close);
}

/// Windows of the rows of `x`, in destinations that lie as they come, with steps, and across.
template <class T, class Table>
void check_rolled(const Table& x, tenon::index length, double bound) {
  const rolled expected(x, length);
  const tenon::index rows = x.extent(0) - length + 1, columns = x.extent(1);
  const auto slid = tenon::windows(x, axis<0>, {length});
  CHECK(are_close(numbers_of(tenon::sum(slid, tenon::drop<-1>)), expected.sums, bound));
  CHECK(are_close(numbers_of(tenon::mean(slid, tenon::drop<-1>) * static_cast<T>(length)), expected.sums, bound));
  CHECK(are_close(numbers_of(tenon::max(slid, tenon::drop<-1>)), expected.greatest, 0));
  CHECK(
      are_close(numbers_of(tenon::min(tenon::move_axis(slid, axis<-1>, axis<1>), tenon::drop<1>)), expected.least, 0));
  tenon::tensor<T, rank<2>> wide({rows, columns + 3}), across({columns, rows});
  wide = T(7);
  const auto part = tenon::slice(wide, tenon::all_of, tenon::range(1, columns + 1));
  part = tenon::max(slid, tenon::drop<-1>);
  CHECK(are_close(numbers_of(part), expected.greatest, 0));
  CHECK(tenon::all(tenon::slice(wide, tenon::all_of, tenon::range(0, 1)) == T(7)));
  CHECK(tenon::all(tenon::slice(wide, tenon::all_of, tenon::range(columns + 1, columns + 3)) == T(7)));
  tenon::transpose(across) = tenon::min(slid, tenon::drop<-1>);
  CHECK(are_close(numbers_of(tenon::transpose(across)), expected.least, 0));
  const auto ranges = tenon::max(slid, tenon::drop<-1>) - tenon::min(slid, tenon::drop<-1>);
  std::vector<double> differences;
  for (std::size_t i = 0; i < expected.sums.size(); ++i)
    differences.push_back(expected.greatest[i] - expected.least[i]);
  CHECK(are_close(numbers_of(ranges), differences, bound));
}

/// Tables whose rows follow one another, lie apart, and lie across.
template <class T>
void check_rolled_tables(double bound) {
  std::uint32_t seed = 1;
  const auto next = [&](tenon::index most) {
    seed = seed * 1664525 + 1013904223;
    return 1 + static_cast<tenon::index>(seed >> 8) % most;
  };
  for (int turn = 0; turn < 40; ++turn) {
    const tenon::index columns = turn < 8 ? turn + 1 : next(64), length = turn % 3 == 0 ? next(6) : next(70);
    const tenon::index rows = length - 1 + (turn % 5 == 0 ? next(3) : next(300));
    tenon::tensor<T, rank<2>> x({rows, columns}), wide({rows, columns + 2}), across({columns, rows});
    for (tenon::index i = 0; i < x.size(); ++i) {
      x.data()[i] = next(1000) == 1 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(next(1000)) / T(64);
    }
    CAPTURE(rows, columns, length);
    check_rolled<T>(x, length, bound);
    const auto part = tenon::slice(wide, tenon::all_of, tenon::range(1, columns + 1));
    part = x * T(1);
    check_rolled<T>(part, length, bound);
    tenon::transpose(across) = x * T(1);
    check_rolled<T>(tenon::transpose(across), length, bound);
  }
}

}  // namespace

TEST_CASE("windows of the rows of tables of every width", "[reduce]") {
  check_rolled_tables<float>(1e-3);
  check_rolled_tables<double>(1e-9);
}
