// tests/expr/statistics.cpp: counts, deviations, and reductions that pass over NaN.
// Compared with two passes in double over each row, and with the values that NumPy gives for too few values.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/statistics.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;
using tenon_test::tensor_of;
using numbers = std::vector<double>;

const double absent = std::nan("");

/// The variance of each row of `length` numbers, in two passes.
numbers variances_by_definition(const numbers& values, tenon::index length, double correction) {
  const auto n = static_cast<double>(length);
  numbers result;
  for (std::size_t row = 0; row < values.size(); row += static_cast<std::size_t>(length)) {
    double mean = 0, total = 0;
    for (std::size_t i = row; i < row + static_cast<std::size_t>(length); ++i) mean += values[i] / n;
    for (std::size_t i = row; i < row + static_cast<std::size_t>(length); ++i)
      total += (values[i] - mean) * (values[i] - mean);
    result.push_back(total / (n - correction));
  }
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("variance and deviation with a correction", "[statistics]", tenon_test::spaces) {
  for (const tenon::index length : {2, 7, 100, 1033}) {
    for (const double offset : {0.0, 1e4}) {
      CAPTURE(length, offset);
      const auto x = tenon_test::made_tensor<float, TestType>(rank<2>(3, length), [&](tenon::index i) {
        return offset + static_cast<double>(i * 7919 % 2003) / 100.0 - 10.0;
      });
      const double bound = offset == 0 ? 2e-5 : 3e-4;  // float holds 1e4 in steps of 1e-3; careless sums would err by 1
      for (const double correction : {0.0, 1.0, 1.5}) {
        const auto expected = variances_by_definition(numbers_of(x), length, correction);
        auto roots = expected;
        for (double& each : roots) each = std::sqrt(each);
        CHECK(difference(numbers_of(tenon::variance(x, axis<1>, correction)), expected, bound) == "");
        CHECK(difference(numbers_of(tenon::stddev(x, axis<1>, correction)), roots, bound) == "");
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("the variance of integers that float does not hold", "[statistics]", tenon_test::spaces) {
  const tenon::index offset = 1700000001;  // seconds since 1970, of which float holds every 128th
  for (const tenon::index length : {2, 7, 100, 1033}) {
    CAPTURE(length);
    const auto value = [&](tenon::index i) { return static_cast<double>(offset + i * 7919 % 61); };
    const auto x = tenon_test::made_tensor<int, TestType>(rank<2>(3, length), value);
    const auto wide = tenon_test::made_tensor<std::int64_t, TestType>(rank<2>(3, length), value);
    const auto rows = variances_by_definition(numbers_of(x), length, 1);
    CHECK(difference(numbers_of(tenon::variance(x, axis<1>, 1)), rows, 1e-6) == "");
    CHECK(difference(numbers_of(tenon::variance(wide, axis<1>, 1)), rows, 1e-6) == "");
    CHECK(difference(numbers_of(tenon::variance(tenon::transpose(wide), axis<0>, 1)), rows, 1e-6) == "");
    numbers whole = numbers_of(x), columns;
    for (tenon::index i = 0; i < length; ++i) {
      const auto at = [&](tenon::index row) { return whole[static_cast<std::size_t>(row * length + i)]; };
      columns.push_back(variances_by_definition({at(0), at(1), at(2)}, 3, 0)[0]);
    }
    CHECK(difference(numbers_of(tenon::variance(x, axis<0>)), columns, 1e-6) == "");
    CHECK(difference(numbers_of(tenon::variance(wide, axis<0>)), columns, 1e-6) == "");
    const auto all = variances_by_definition(whole, 3 * length, 0);
    CHECK(difference(numbers_of(tenon::variance(x)), all, 1e-6) == "");
  }
  static_assert(std::is_same_v<decltype(tenon::variance(tenon::tensor<int, rank<1>>()))::element, float>);
}

TEMPLATE_LIST_TEST_CASE("variance over several axes divides by their count", "[statistics]", tenon_test::spaces) {
  const auto x = tenon_test::counting<double, TestType>(rank<3>(2, 3, 2));
  CHECK(difference(numbers_of(tenon::variance(x, axis<1, 2>, 1)), {3.5, 3.5}, 1e-15) == "");
  CHECK(difference(numbers_of(tenon::variance(x, axis<0, 2>, 1)), {37 / 3.0, 37 / 3.0, 37 / 3.0}, 1e-15) == "");
  CHECK(difference(numbers_of(tenon::variance(x, tenon::all_axes{}, 1)), {13}, 1e-15) == "");
  CHECK(difference(numbers_of(tenon::stddev(x)), {std::sqrt(143 / 12.0)}, 1e-15) == "");
  const auto whole = tenon_test::counting<int, TestType>(rank<1>(3));
  CHECK(numbers_of(tenon::variance(whole, axis<0>, 1)) == numbers{1});
  STATIC_REQUIRE(std::is_same_v<typename decltype(tenon::variance(whole, axis<0>, 1))::element, float>);
}

TEMPLATE_LIST_TEST_CASE("too few values have no corrected variance", "[statistics]", tenon_test::spaces) {
  const auto one = tensor_of<TestType, float>(rank<2>(1, 1), {7});
  CHECK(numbers_of(tenon::variance(one, axis<1>)) == numbers{0});
  CHECK(difference(numbers_of(tenon::variance(one, axis<1>, 1)), {absent}) == "");
  const auto two = tensor_of<TestType, float>(rank<2>(1, 2), {1, 2});
  CHECK(difference(numbers_of(tenon::variance(two, axis<1>, 2)), {HUGE_VAL}) == "");
  CHECK(difference(numbers_of(tenon::variance(two, axis<1>, 5)), {HUGE_VAL}) == "");
  const auto none = tensor_of<TestType, float>(rank<2>(1, 0), {});
  CHECK(difference(numbers_of(tenon::variance(none, axis<1>, 1)), {absent}) == "");
  const auto spoilt = tensor_of<TestType, float>(rank<1>(3), {1, NAN, 2});
  CHECK(difference(numbers_of(tenon::stddev(spoilt, axis<0>, 1)), {absent}) == "");
}

TEMPLATE_LIST_TEST_CASE("count_nonzero counts NaN and not -0", "[statistics]", tenon_test::spaces) {
  const auto x = tensor_of<TestType, float>(rank<2>(2, 4), {0, 1, -0.0f, NAN, -2, 3, HUGE_VALF, 0});
  CHECK(numbers_of(tenon::count_nonzero(x, axis<1>)) == numbers{2, 3});
  CHECK(numbers_of(tenon::count_nonzero(x)) == numbers{5});
  STATIC_REQUIRE(std::is_same_v<typename decltype(tenon::count_nonzero(x))::element, std::int64_t>);
  const auto flags = tenon_test::made_tensor<bool, TestType>(rank<1>(1000), [](tenon::index i) { return i % 3 == 0; });
  CHECK(numbers_of(tenon::count_nonzero(flags)) == numbers{334});
  CHECK(numbers_of(tenon::count_nonzero(tensor_of<TestType, float>(rank<2>(2, 0), {}), axis<1>)) == numbers{0, 0});
}

TEMPLATE_LIST_TEST_CASE("NaN is passed over on request", "[statistics]", tenon_test::spaces) {
  const auto x = tensor_of<TestType, float>(rank<2>(3, 3), {1, NAN, 3, NAN, NAN, NAN, -5, -HUGE_VALF, NAN});
  CHECK(difference(numbers_of(tenon::nansum(x, axis<1>)), {4, 0, -HUGE_VAL}) == "");
  CHECK(difference(numbers_of(tenon::nanmean(x, axis<1>)), {2, absent, -HUGE_VAL}) == "");
  CHECK(difference(numbers_of(tenon::nanmax(x, axis<1>)), {3, absent, -5}) == "");
  CHECK(difference(numbers_of(tenon::nanmin(x, axis<1>)), {1, absent, -HUGE_VAL}) == "");
  CHECK(numbers_of(tenon::nanmax(x)) == numbers{3});
  STATIC_REQUIRE(std::is_same_v<typename decltype(tenon::nanmean(x, axis<1>))::element, float>);
  const auto small = tensor_of<TestType, tenon::half>(rank<1>(2), {tenon::half(2.0f), tenon::half(NAN)});
  CHECK(numbers_of(tenon::nanmean(small)) == numbers{2});
  STATIC_REQUIRE(std::is_same_v<typename decltype(tenon::nanmax(small))::element, tenon::half>);
}

TEMPLATE_LIST_TEST_CASE("extremes of rows and columns in which all kinds of numbers are NaN", "[statistics]",
                        tenon_test::spaces) {
  const tenon::index rows = 37;
  for (const tenon::index columns : {1, 5, 16, 67, 131}) {
    const auto x = tenon_test::made_tensor<float, TestType>(rank<2>(rows, columns), [&](tenon::index i) {
      const bool is_kept = i % columns != 2 && i / columns != 3 && i * 7 % 5 != 1;
      return is_kept ? static_cast<float>(i * 31 % 101) - 50 : NAN;
    });
    const auto values = numbers_of(x);
    numbers greatest_of_row(static_cast<std::size_t>(rows), absent),
        least_of_column(static_cast<std::size_t>(columns), absent);
    for (std::size_t i = 0; i < values.size(); ++i) {
      double& greatest = greatest_of_row[i / static_cast<std::size_t>(columns)];
      double& least = least_of_column[i % static_cast<std::size_t>(columns)];
      greatest = std::fmax(greatest, values[i]), least = std::fmin(least, values[i]);
    }
    CHECK(difference(numbers_of(tenon::nanmax(x, axis<1>)), greatest_of_row) == "");
    CHECK(difference(numbers_of(tenon::nanmin(x, axis<0>)), least_of_column) == "");
    CHECK(difference(numbers_of(tenon::nanmin(tenon::transpose(x), axis<1>)), least_of_column) == "");
  }
}

TEST_CASE("what passes over NaN refuses nothing, and axes that are not there, by its own name", "[statistics]") {
  const tenon::tensor<float, rank<2>> none(rank<2>(3, 0));
  const auto refusal = [](const auto& body) { return tenon_test::text_of<tenon::shape_error>(body); };
  CHECK(refusal([&] { tenon::nanmax(none); }) == "nanmax: axis 1: extent 0, expected at least 1 (operand [3, 0])");
  CHECK(refusal([&] { tenon::nanmin(none, axis<1>); }) ==
        "nanmin: axis 1: extent 0, expected at least 1 (operand [3, 0])");
  CHECK(refusal([&] { tenon::nanmax(none, tenon::axes{-1}); }) ==
        "nanmax: axis 1: extent 0, expected at least 1 (operand [3, 0])");
  CHECK(tenon_test::text_of<tenon::index_error>([&] { tenon::nanmin(none, tenon::axes{2}); }) ==
        "nanmin: axes: axis 2, expected -2 to 1 (operand [3, 0])");
  CHECK(tenon::nanmax(none, axis<0>).shape().to_array() == tenon::array<tenon::index, 2>{{1, 0}});
}

TEST_CASE("a statistic is one kernel", "[statistics]") {
  const auto x = tenon_test::counting<float>(rank<2>(2, 3));
  CHECK(tenon::kernel_count<decltype(tenon::stddev(x, axis<1>, 1))> == 1);
  CHECK(tenon::kernel_count<decltype(tenon::count_nonzero(x, axis<0>))> == 1);
  CHECK(tenon::kernel_count<decltype(tenon::nanmean(x, axis<1>))> == 1);
  CHECK(tenon::kernel_count<decltype(tenon::nanmax(x, axis<0>))> == 1);
}
