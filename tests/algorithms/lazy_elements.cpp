// tests/algorithms/lazy_elements.cpp: expressions that algorithms on devices evaluate as they read them.
// Their values by number, line after line and reversed, are those of the expression; no kernel runs to store them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/histogram.hpp>
#include <tenon/algorithms/lazy_elements.hpp>
#include <tenon/algorithms/scan.hpp>
#include <tenon/algorithms/select.hpp>
#include <tenon/algorithms/sort.hpp>

#include "algorithms/distant.hpp"
#include "algorithms/line_cases.hpp"

namespace {

using tenon::axis;
using tenon::index;
using tenon::rank;
using tenon_test::distant;
using tenon_test::numbers_of;

const auto values =
    tenon_test::made_tensor<float>(rank<3>(4, 5, 6), [](index i) { return static_cast<double>(i * 7 % 31); });

/// An expression of several operands, one of them across, in `Space`.
template <class Space>
auto mixed() {
  return tenon::permute(tenon::evaluated_tensor(tenon::permute(values.template to<Space>(), axis<2, 0, 1>)),
                        axis<1, 2, 0>) *
             2 +
         tenon_test::counting<float, Space>(rank<1>(6), 3) - tenon::arange<float>(6);
}

/// How many kernels of pointwise statements `statement` runs; its result is numbers.
template <class Statement>
int stored_by(const Statement& statement, const std::vector<double>& expected) {
  const tenon::launch_counter counter;
  const auto result = statement();
  const int launches = counter.count();
  CHECK(numbers_of(result) == expected);
  return launches;
}

}  // namespace

TEST_CASE("values by number are those of the expression", "[lazy]") {
  const auto node = tenon::as_node(mixed<distant>());
  const tenon::lazy_elements<std::remove_const_t<decltype(node)>> elements{node};
  CHECK(elements.size() == 120);
  CHECK(elements.extent(1) == 5);
  const auto expected = numbers_of(mixed<tenon::host>());
  const auto by_number = tenon::in_order(elements);
  for (tenon::index i = 0; i < 120; ++i) CHECK(by_number[i] == expected[static_cast<std::size_t>(i)]);
  for (int along = 0; along < 3; ++along) {
    for (const bool reverse : {false, true}) {
      const auto lines = tenon::line_by_line(elements, along, reverse);
      tenon::index number = 0;
      for (auto line : tenon_test::lines_of(tenon::array<tenon::index, 3>{{4, 5, 6}}, along)) {
        if (reverse) line = tenon_test::line(line.rbegin(), line.rend());
        for (const std::size_t at : line) CHECK(lines[number++] == expected[at]);
      }
    }
  }
}

TEST_CASE("pointwise operands are not stored before an algorithm reads them", "[lazy]") {
  const auto x = mixed<distant>();
  const auto here = mixed<tenon::host>();
  CHECK(stored_by([&] { return tenon::cumsum(x * 1, axis<1>); }, numbers_of(tenon::cumsum(here * 1, axis<1>))) == 0);
  CHECK(stored_by([&] { return tenon::cummax(x, axis<0>, {true, true}); },
                  numbers_of(tenon::cummax(here, axis<0>, {true, true}))) == 0);
  CHECK(stored_by([&] { return tenon::histogram(x / 2, 7, -5.0, 40.0); },
                  numbers_of(tenon::histogram(here / 2, 7, -5.0, 40.0))) == 1);  // counts are set to zero
  CHECK(stored_by([&] { return tenon::sort(-x, axis<2>); }, numbers_of(tenon::sort(-here, axis<2>))) == 2);
  CHECK(stored_by([&] { return tenon::topk(x + 1, 3, axis<0>).indices; },
                  numbers_of(tenon::topk(here + 1, 3, axis<0>).indices)) == 3);
  CHECK(stored_by([&] { return tenon::masked_select(x * 3, x > 20.0f); },
                  numbers_of(tenon::masked_select(here * 3, here > 20.0f))) == 2);  // counts, then copies
  CHECK(stored_by([&] { return tenon::nonzero(x - 22); }, numbers_of(tenon::nonzero(here - 22))) == 2);
}

TEST_CASE("other expressions are stored, and conditions of no space are read anywhere", "[lazy]") {
  const auto x = values.to<distant>();
  CHECK(numbers_of(tenon::cumsum(x - tenon::mean(x, axis<2>), axis<1>)) ==
        numbers_of(tenon::cumsum(values - tenon::mean(values, axis<2>), axis<1>)));
  CHECK(numbers_of(tenon::masked_select(x, tenon::arange<int>(6) > 3)) ==
        numbers_of(tenon::masked_select(values, tenon::arange<int>(6) > 3)));
  CHECK(numbers_of(tenon::compress(x * 2, tenon::arange<int>(5) > 2, axis<1>)) ==
        numbers_of(tenon::compress(values * 2, tenon::arange<int>(5) > 2, axis<1>)));
  CHECK(numbers_of(tenon::masked_select(x, tenon::max(x, axis<2>) > 29.0f)) ==
        numbers_of(tenon::masked_select(values, tenon::max(values, axis<2>) > 29.0f)));
}
