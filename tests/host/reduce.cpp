// tests/host/reduce.cpp: the loops of statements that reduce.
// Results side by side or along themselves, long and short, are compared with sums in double.
// SPDX-License-Identifier: Apache-2.0
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
