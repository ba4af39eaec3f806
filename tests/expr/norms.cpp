// tests/expr/norms.cpp: vector norms over axes.
// Compared with their definitions in double, row by row; NaN, nothing, and the ends of the range of float are named.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/norms.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::difference;
using tenon_test::far_scattered;
using tenon_test::numbers_of;
using tenon_test::tensor_of;
using numbers = std::vector<double>;

/// `define(row)` of each row of `length` numbers.
template <class Define>
numbers each_row(const numbers& values, std::size_t length, Define&& define) {
  numbers result;
  for (std::size_t row = 0; row < values.size(); row += length) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(row);
    result.push_back(define(numbers(first, first + static_cast<std::ptrdiff_t>(length))));
  }
  return result;
}

double norm_by_definition(const numbers& row, double p) {
  double total = 0;
  for (const double each : row) total += std::pow(std::fabs(each), p);
  return std::pow(total, 1 / p);
}

double greatest_magnitude(const numbers& row) {
  double greatest = 0;
  for (const double each : row) greatest = std::fmax(greatest, std::fabs(each));
  return greatest;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("norms of rows are their definitions", "[norms]", tenon_test::spaces) {
  for (const tenon::index length : {1, 3, 33, 257, 1030}) {
    CAPTURE(length);
    const auto x = tenon_test::made_tensor<float, TestType>(rank<2>(5, length), far_scattered);
    const auto rows = [&](auto define) { return each_row(numbers_of(x), static_cast<std::size_t>(length), define); };
    const auto power = [&](double p) { return rows([p](const numbers& row) { return norm_by_definition(row, p); }); };
    CHECK(difference(numbers_of(tenon::norm_l1(x, axis<1>)), power(1), 1e-6) == "");
    CHECK(difference(numbers_of(tenon::norm_l2(x, axis<1>)), power(2), 1e-6) == "");
    CHECK(difference(numbers_of(tenon::norm_inf(x, axis<1>)), rows(greatest_magnitude), 1e-7) == "");
    for (const double p : {0.5, 1.0, 2.0, 3.0}) {
      CAPTURE(p);
      CHECK(difference(numbers_of(tenon::norm(x, p, axis<1>)), power(p), 5e-6) == "");
    }
  }
}

TEMPLATE_LIST_TEST_CASE("norms of everything and along a first axis", "[norms]", tenon_test::spaces) {
  const auto x = tensor_of<TestType, double>(rank<2>(2, 2), {3, -12, -4, 5});
  CHECK(numbers_of(tenon::norm_l1(x)) == numbers{24});
  CHECK(numbers_of(tenon::norm_l2(x, axis<0>)) == numbers{5, 13});
  CHECK(numbers_of(tenon::norm_inf(x)) == numbers{12});
  CHECK(difference(numbers_of(tenon::norm(x, 2)), {std::sqrt(194.0)}, 1e-14) == "");
  CHECK(difference(numbers_of(tenon::norm(x, 3)), {std::cbrt(27.0 + 1728 + 64 + 125)}, 1e-14) == "");
}

TEMPLATE_LIST_TEST_CASE("norms of integers are float and leave the integers' range", "[norms]", tenon_test::spaces) {
  const auto x = tensor_of<TestType, std::int8_t>(rank<1>(3), {-128, 100, 100});
  STATIC_REQUIRE(std::is_same_v<typename decltype(tenon::norm_l1(x))::element, float>);
  CHECK(numbers_of(tenon::norm_l1(x)) == numbers{328});
  CHECK(numbers_of(tenon::norm_inf(x)) == numbers{128});
  CHECK(difference(numbers_of(tenon::norm_l2(x)), {std::sqrt(36384.0)}, 1e-6) == "");
}

TEMPLATE_LIST_TEST_CASE("norms follow NaN and infinity, and of nothing are 0", "[norms]", tenon_test::spaces) {
  const double nan = std::nan(""), inf = HUGE_VAL;
  const auto x = tensor_of<TestType, float>(rank<2>(2, 3), {1, NAN, 2, -HUGE_VALF, 1, 1});
  CHECK(difference(numbers_of(tenon::norm_l1(x, axis<1>)), {nan, inf}) == "");
  CHECK(difference(numbers_of(tenon::norm_l2(x, axis<1>)), {nan, inf}) == "");
  CHECK(difference(numbers_of(tenon::norm_inf(x, axis<1>)), {nan, inf}) == "");
  CHECK(difference(numbers_of(tenon::norm(x, 3, axis<1>)), {nan, inf}) == "");
  const auto none = tensor_of<TestType, float>(rank<2>(2, 0), {});
  CHECK(numbers_of(tenon::norm_l1(none, axis<1>)) == numbers{0, 0});
  CHECK(numbers_of(tenon::norm_l2(none, axis<1>)) == numbers{0, 0});
  CHECK(numbers_of(tenon::norm(none, 3, axis<1>)) == numbers{0, 0});
  CHECK_THROWS_AS(tenon::norm_inf(none, axis<1>), tenon::shape_error);
}

TEMPLATE_LIST_TEST_CASE("squares of 16-bit values are summed in float", "[norms]", tenon_test::spaces) {
  const auto x = tenon_test::made_tensor<tenon::half, TestType>(rank<1>(9), [](tenon::index) { return 1000.0; });
  CHECK(numbers_of(tenon::norm_l2(x)) == numbers{3000});
}

TEST_CASE("a norm is one kernel, and refuses other powers", "[norms]") {
  const auto x = tenon_test::counting<float>(rank<2>(2, 3));
  CHECK(tenon::kernel_count<decltype(tenon::norm_l2(x, axis<1>))> == 1);
  CHECK(tenon::kernel_count<decltype(tenon::norm(x, 3, axis<0>))> == 1);
  CHECK(tenon::kernel_count<decltype(x / tenon::norm_l2(x, axis<1>))> == 1);
  const auto text = [&](double p) { return tenon_test::text_of<tenon::index_error>([&] { tenon::norm(x, p); }); };
  CHECK(text(0) == "norm: p: 0, expected a positive finite number; norm_inf for infinity?");
  CHECK(text(HUGE_VAL) == "norm: p: inf, expected a positive finite number; norm_inf for infinity?");
}
