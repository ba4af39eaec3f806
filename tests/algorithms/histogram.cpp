// tests/algorithms/histogram.cpp: counts of elements in bins and of whole numbers.
// The reference compares each element with the edges of all bins.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/histogram.hpp>
#include <tenon/expr/views/flip.hpp>
#include <tenon/expr/views/slice.hpp>

#include "algorithms/distant.hpp"
#include "algorithms/line_cases.hpp"
#include "support/text_of.hpp"
#include "support/threads.hpp"

namespace {

using tenon::rank;
using tenon_test::numbers_of;
using tenon_test::tensor_of;
using numbers = std::vector<double>;

/// Counts between edges, by definition.
numbers counted(const numbers& values, tenon::index bins, double low, double high) {
  numbers counts(static_cast<std::size_t>(bins));
  for (const double each : values) {
    for (tenon::index bin = 0; bin < bins; ++bin) {
      const auto edge = [&](tenon::index i) {
        return i == bins ? high : low + static_cast<double>(i) * ((high - low) / static_cast<double>(bins));
      };
      const bool is_last = bin + 1 == bins;
      if (each >= edge(bin) && (each < edge(bin + 1) || (is_last && each == high)))
        ++counts[static_cast<std::size_t>(bin)];
    }
  }
  return counts;
}

template <class Operand>
void check_histogram(const Operand& x) {
  const auto values = numbers_of(x);
  for (const tenon::index bins : {1, 3, 8, 50}) {
    CHECK(numbers_of(tenon::histogram(x, bins, 0, 9)) == counted(values, bins, 0, 9));
    CHECK(numbers_of(tenon::histogram(x, bins, 1.5, 6.25)) == counted(values, bins, 1.5, 6.25));
  }
}

template <class Operand>
void check_bincount(const Operand& x) {
  const auto values = numbers_of(x);
  numbers counts;
  for (const double each : values) {
    if (each >= static_cast<double>(counts.size())) counts.resize(static_cast<std::size_t>(each) + 1);
    ++counts[static_cast<std::size_t>(each)];
  }
  CHECK(numbers_of(tenon::bincount(x)) == counts);
  if (counts.size() < 30) counts.resize(30);
  CHECK(numbers_of(tenon::bincount(x, 30)) == counts);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("counts of operands of every kind", "[histogram]", tenon_test::algorithm_spaces) {
  for (const auto& extents : tenon_test::line_shapes) {
    tenon_test::for_each_operand<float, TestType>(extents, [](const auto& x) { check_histogram(x); });
    tenon_test::for_each_operand<int, TestType>(extents, [](const auto& x) { check_bincount(x); });
    tenon_test::for_each_operand<std::uint8_t, TestType>(extents, [](const auto& x) { check_bincount(x); });
  }
}

TEMPLATE_LIST_TEST_CASE("edges belong to the upper bin, the last to the last", "[histogram]",
                        tenon_test::algorithm_spaces) {
  for (const tenon::index bins : {10, 49, 100}) {  // widths that are no binary fractions: rounded edges decide
    const auto edges = tenon_test::made_tensor<double, TestType>(rank<1>(bins + 1), [&](tenon::index i) {
      return i == bins ? 0.7 : static_cast<double>(i) * (0.7 / static_cast<double>(bins));
    });
    CHECK(numbers_of(tenon::histogram(edges, bins, 0, 0.7)) == counted(numbers_of(edges), bins, 0, 0.7));
    CHECK(numbers_of(tenon::histogram(edges, bins, 0, 0.7)).front() == 1);
    CHECK(numbers_of(tenon::histogram(edges, bins, 0, 0.7)).back() == 2);
  }
}

TEMPLATE_LIST_TEST_CASE("counts of lines longer than a block, also from end to end and in steps", "[histogram]",
                        tenon_test::algorithm_spaces) {
  for (const tenon::index length : {255, 256, 257, 700}) {
    CAPTURE(length);
    const auto x = tenon_test::made_tensor<double, TestType>(rank<1>(length), [](tenon::index i) {
      return i % 50 == 49 ? tenon_test::nan_value : static_cast<double>(i * 37 % 101) / 7 - 2;
    });
    check_histogram(x);
    check_histogram(tenon::flip(x, tenon::axis<0>));
    check_histogram(tenon::slice(x, tenon::range(1, tenon::open_end, 2)));
    const auto whole = tenon_test::made_tensor<int, TestType>(
        rank<1>(length), [](tenon::index i) { return static_cast<double>(i * 37 % 101); });
    check_bincount(whole);
    check_bincount(tenon::slice(whole, tenon::range(1, tenon::open_end, 2)));
  }
}

TEMPLATE_LIST_TEST_CASE("NaN, infinities and what lies outside are not counted", "[histogram]",
                        tenon_test::algorithm_spaces) {
  const double nan = tenon_test::nan_value, infinity = tenon_test::infinity;
  const auto x = tenon_test::repeated<tenon::half, TestType>({nan, infinity, -infinity, 0, 1, 2, -1, 0.5}, 8);
  CHECK(numbers_of(tenon::histogram(x, 2, 0, 1)) == numbers{1, 2});
}

TEMPLATE_LIST_TEST_CASE("histogram and bincount refuse what they cannot count", "[histogram]",
                        tenon_test::algorithm_spaces) {
  const auto x = tensor_of<TestType, int>(rank<1>(3), {1, -2, 0});
  CHECK(tenon_test::text_of<tenon::index_error>([&] { tenon::bincount(x); }) ==
        "bincount: element -2, expected at least 0");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::bincount(tenon::abs(x), -3); }) ==
        "bincount: a least count of -3, expected at least 0");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::histogram(x, 0, 0, 1); }) ==
        "histogram: 0 bins, expected at least 1");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::histogram(x, 4, 1, 1); }) ==
        "histogram: from 1 to 1, expected finite ends in ascending order");
}

TEMPLATE_LIST_TEST_CASE("bincount refuses numbers that no count reaches", "[histogram]", tenon_test::algorithm_spaces) {
  constexpr auto limit = tenon::highest_value<std::int64_t>();
  const auto greatest = tensor_of<TestType, std::int64_t>(rank<1>(2), {1, limit});
  CHECK(tenon_test::text_of<tenon::index_error>([&] { tenon::bincount(greatest); }) ==
        "bincount: element 9223372036854775807, expected below 9223372036854775807");
  const auto beyond =
      tensor_of<TestType, std::uint64_t>(rank<1>(2), {std::uint64_t{limit} + 1, tenon::highest_value<std::uint64_t>()});
  CHECK(tenon_test::text_of<tenon::index_error>([&] { tenon::bincount(beyond, 4); }) ==
        "bincount: element 18446744073709551615, expected below 9223372036854775807");
}

TEST_CASE("counts are the same on any number of threads", "[histogram]") {
  const auto waves = tenon_test::made_tensor<float>(rank<1>(70001), [](tenon::index i) { return std::sin(i); });
  CHECK(tenon_test::is_same_on_any_threads(
      [&] { return tenon_test::elements_of(tenon::histogram(waves, 33, -0.9, 0.8)); }));
  const auto x = tenon_test::few_values<int, tenon::host>({{40, 50, 60}}, 7, 300);
  CHECK(tenon_test::is_same_on_any_threads([&] { return tenon_test::elements_of(tenon::bincount(x)); }));
}
