// tests/algorithms/quantile.cpp: medians and other quantiles.
// Compared with a sort of each line and the line between two elements in order; NaN and infinities; refusals.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms.hpp>
#include <tenon/expressions.hpp>

#include <algorithm>
#include <cmath>

#include "algorithms/distant.hpp"
#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::difference;
using tenon_test::extents_of;
using tenon_test::numbers_of;
using tenon_test::tensor_of;
using numbers = std::vector<double>;

const float endless = HUGE_VALF, absent = std::nanf("");

double quantile_by_definition(numbers line, double share) {
  std::sort(line.begin(), line.end());
  const double position = share * static_cast<double>(line.size() - 1), whole = std::floor(position);
  const auto below = static_cast<std::size_t>(whole), above = std::min(below + 1, line.size() - 1);
  return line[below] + (line[above] - line[below]) * (position - whole);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("quantiles along each axis", "[quantile]", tenon_test::algorithm_spaces) {
  for (const tenon::index length : {1, 2, 5, 40, 301}) {
    const auto x = tenon_test::made_tensor<double, TestType>(rank<3>(3, length, 4), tenon_test::scattered);
    const auto values = numbers_of(x);
    numbers middle, ends;
    for (const double share : {0.0, 0.3, 1.0}) {
      for (int k = 0; k < 4; ++k) {
        numbers line;
        for (tenon::index j = 0; j < length; ++j) line.push_back(values[static_cast<std::size_t>(j * 4 + k)]);
        ends.push_back(quantile_by_definition(line, share));
      }
    }
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 4; ++k) {
        numbers line;
        for (tenon::index j = 0; j < length; ++j) {
          line.push_back(values[static_cast<std::size_t>((i * length + j) * 4 + k)]);
        }
        middle.push_back(quantile_by_definition(line, 0.5));
      }
    }
    CAPTURE(length);
    CHECK(difference(numbers_of(tenon::median(x, axis<1>)), middle, 1e-12) == "");
    CHECK(difference(numbers_of(tenon::median(tenon::transpose(x), axis<-1>)),
                     numbers_of(tenon::median(tenon::evaluated_tensor(tenon::transpose(x)), axis<2>)), 0) == "");
    const auto first = tenon::evaluated_tensor(tenon::select(x, axis<0>, 0));
    CHECK(difference(numbers_of(tenon::quantile(first, {0.0, 0.3, 1.0}, axis<0>)), ends, 1e-12) == "");
    CHECK(static_cast<double>(tenon::median(tenon::transpose(x))) == static_cast<double>(tenon::median(x)));
    CHECK(static_cast<double>(tenon::quantile(x, 0.9)) == Approx(quantile_by_definition(values, 0.9)).epsilon(1e-12));
  }
}

TEMPLATE_LIST_TEST_CASE("quantiles keep their axis and broadcast", "[quantile]", tenon_test::algorithm_spaces) {
  const auto x = tensor_of<TestType, float>(rank<2>(2, 3), {1, 2, 9, 4, 8, 6});
  CHECK(extents_of(tenon::median(x, axis<1>)) == std::vector<tenon::index>{2, 1});
  CHECK(extents_of(tenon::quantile(x, {0.1, 0.2, 0.3, 0.4}, axis<1>)) == std::vector<tenon::index>{2, 4});
  CHECK(numbers_of(x - tenon::median(x, axis<1>)) == numbers{-1, 0, 7, -2, 2, 0});
  CHECK(extents_of(tenon::median(tenon::tensor<float, rank<2>, TestType>(rank<2>(0, 3)), axis<1>)) ==
        std::vector<tenon::index>{0, 1});
}

TEMPLATE_LIST_TEST_CASE("quantiles without their axis", "[quantile]", tenon_test::algorithm_spaces) {
  const auto x = tensor_of<TestType, float>(rank<2>(2, 3), {1, 2, 9, 4, 8, 6});
  const tenon::tensor<float, rank<1>, TestType> middle = tenon::median(x, axis<0>);
  CHECK(numbers_of(middle) == numbers{2.5, 5, 7.5});
  CHECK(numbers_of(middle) == numbers_of(tenon::median(x, tenon::drop<0>)));
  CHECK(extents_of(tenon::median(x, tenon::drop<-1>)) == std::vector<tenon::index>{2});
  CHECK(numbers_of(tenon::quantile(x, 0.5, tenon::drop<-1>)) == numbers{2, 6});
  CHECK(numbers_of(tenon::quantile(x * 2, 0.25, tenon::drop<1>)) == numbers{3, 10});
  const tenon::tensor<double, tenon::shape<3>, TestType> converted = tenon::median(tenon::cast<double>(x), axis<0>);
  CHECK(numbers_of(converted) == numbers{2.5, 5, 7.5});
  const auto block = tensor_of<TestType, float>(tenon::shape<1, tenon::dyn, 1>(2), {4, 8});
  CHECK(extents_of(tenon::median(block, tenon::drop<2>)) == std::vector<tenon::index>{1, 2});
  CHECK(extents_of(tenon::median(block, tenon::drop<0>)) == std::vector<tenon::index>{2, 1});
  const float most = tenon::quantile(tenon::select(x, axis<0>, 0), 1, tenon::drop<0>);
  CHECK(most == 9);
}

TEMPLATE_LIST_TEST_CASE("quantiles of integers, of short floats, of infinities and NaN", "[quantile]",
                        tenon_test::algorithm_spaces) {
  const auto counts = tensor_of<TestType, std::int64_t>(rank<1>(4), {7, 1, 2, 4});
  const float middle = tenon::median(counts);
  CHECK(middle == 3);
  const auto halves = tenon_test::made_tensor<tenon::half, TestType>(
      rank<1>(3), [](tenon::index i) { return i == 0 ? 2 : 0.5 * static_cast<double>(i); });
  CHECK(numbers_of(tenon::quantile(halves, 0.25, axis<0>)) == numbers{0.75});
  const auto rows = tensor_of<TestType, float>(
      rank<2>(4, 3), {endless, endless, 1, -endless, 0, endless, absent, 1, 2, -endless, -endless, -endless});
  const auto found = numbers_of(tenon::quantile(rows, {0.5, 0.75}, axis<1>));
  CHECK(difference(found, {endless, endless, 0, endless, absent, absent, -endless, -endless}, 0) == "");
}

TEST_CASE("what quantiles refuse", "[quantile]") {
  const tenon::tensor<float, rank<2>> x({2, 3}), empty({2, 0});
  CHECK(tenon_test::text_of<tenon::index_error>([&] { (void)tenon::quantile(x, 1.5, axis<1>); }) ==
        "quantile: share 1.5, expected at least 0 and at most 1");
  CHECK(tenon_test::text_of<tenon::index_error>([&] { (void)tenon::quantile(x, {0.5, absent}, axis<1>); }) ==
        "quantile: share nan, expected at least 0 and at most 1");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)tenon::median(empty, axis<1>); }) ==
        "median: axis 1: extent 0, expected at least 1 (operand [2, 0])");
}
