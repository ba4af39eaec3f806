// tests/expr/views/window.cpp: sliding windows over the last two axes.
// Pooling by windows is compared with loops over the definition.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/window.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;

}  // namespace

TEMPLATE_LIST_TEST_CASE("windows overlap in memory", "[window]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(4, 5));
  const auto parts = tenon::windows<2, 3>(x, 1);
  CHECK(parts.shape() == rank<4>(3, 3, 2, 3));
  const auto values = numbers_of(parts);
  std::size_t at = 0;
  for (int p = 0; p < 3; ++p) {
    for (int q = 0; q < 3; ++q) {
      for (int tap = 0; tap < 6; ++tap) CHECK(values[at++] == (p + tap / 3) * 5 + q + tap % 3);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("what overhangs is left out", "[window]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<3>(2, 5, 7));
  const auto pooled = tenon::max(tenon::windows<2, 2>(x, 2), axis<-2, -1>);
  CHECK(tenon_test::extents_of(pooled) == std::vector<tenon::index>{2, 2, 3, 1, 1});
  CHECK(numbers_of(pooled) == std::vector<double>{8, 10, 12, 22, 24, 26, 43, 45, 47, 57, 59, 61});
  const auto of_expression = tenon::sum(tenon::windows<2, 2>(x * 2, 3), axis<-2, -1>);
  CHECK(numbers_of(of_expression) == std::vector<double>{2 * (0 + 1 + 7 + 8), 2 * (3 + 4 + 10 + 11),
                                                         2 * (21 + 22 + 28 + 29), 2 * (24 + 25 + 31 + 32),
                                                         2 * (35 + 36 + 42 + 43), 2 * (38 + 39 + 45 + 46),
                                                         2 * (56 + 57 + 63 + 64), 2 * (59 + 60 + 66 + 67)});
}

TEMPLATE_LIST_TEST_CASE("windows that do not overlap can be assigned to", "[window]", tenon_test::spaces) {
  auto x = counting<float, TestType>(rank<2>(4, 4));
  tenon::windows<2, 2>(x, 2) = tenon::iota<float>(tenon::shape<2, 2>{});
  CHECK(numbers_of(x) == std::vector<double>{0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3});
}

TEMPLATE_LIST_TEST_CASE("windows slide over any axes, each with its length and step", "[window]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<3>(7, 2, 9));
  const auto check = [](const auto& parts) {
    CHECK(tenon_test::extents_of(parts) == std::vector<tenon::index>{3, 2, 2, 4, 3});
    const auto values = numbers_of(parts);
    std::size_t at = 0;
    for (tenon::index p = 0; p < 3; ++p) {
      for (tenon::index row = 0; row < 2; ++row) {
        for (tenon::index q = 0; q < 2; ++q) {
          for (tenon::index tap = 0; tap < 12; ++tap) {
            const tenon::index i = 2 * p + tap % 3, k = 5 * q + tap / 3;  // the last axis is named first
            CHECK(values[at++] == static_cast<double>((i * 2 + row) * 9 + k));
          }
        }
      }
    }
  };
  check(tenon::windows(x, axis<-1, 0>, {4, 3}, {5, 2}));
  check(tenon::windows(x + 0, axis<-1, 0>, {4, 3}, {5, 2}));
}

TEST_CASE("windows of a static shape start at every element", "[window]") {
  const auto x = counting<float>(rank<2>(2, 9));
  const auto known = tenon::windows(x, axis<1>, tenon::shape<7>{});
  STATIC_REQUIRE(decltype(known)::shape_type::static_extent(2) == 7);
  CHECK(numbers_of(known) == numbers_of(tenon::windows(x, axis<1>, {7})));
}

TEMPLATE_LIST_TEST_CASE("a moving mean is a mean over windows", "[window]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(tenon::shape<2, 6>{});
  const auto means = tenon::mean(tenon::windows(x, axis<1>, {3}), tenon::drop<-1>);
  STATIC_REQUIRE(tenon::kernel_count<decltype(means)> == 1);
  STATIC_REQUIRE(decltype(means)::shape_type::static_extent(0) == 2);
  CHECK(numbers_of(means) == std::vector<double>{1, 2, 3, 4, 7, 8, 9, 10});
  CHECK(numbers_of(tenon::windows(x, axis<1>, {6})) == numbers_of(x));
}

TEMPLATE_LIST_TEST_CASE("elements of windows lie apart by their dilation", "[window]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(2, 9));
  const auto parts = tenon::windows(x, axis<1>, tenon::shape<3>{}, {{2}}, {{3}});
  STATIC_REQUIRE(std::remove_cvref_t<decltype(parts.shape())>::static_extent(2) == 3);
  CHECK(tenon_test::extents_of(parts) == std::vector<tenon::index>{2, 2, 3});
  CHECK(numbers_of(parts) == std::vector<double>{0, 3, 6, 2, 5, 8, 9, 12, 15, 11, 14, 17});
  CHECK_THROWS_AS(tenon::windows(x, axis<1>, tenon::shape<4>{}, {{1}}, {{3}}), tenon::shape_error);
  CHECK_THROWS_AS(tenon::windows(x, axis<1>, tenon::shape<2>{}, {{1}}, {{0}}), tenon::shape_error);
}

TEST_CASE("windows over any axes are refused by the axis that has no room", "[window]") {
  const auto x = counting<float>(rank<2>(4, 2));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::windows(x, axis<0, -1>, {4, 3}); }) ==
        "windows: axis 1: extent 2, expected at least 3 (operand [4, 2], step 1)");
  CHECK_THROWS_AS(tenon::windows(x, axis<0>, {0}), tenon::shape_error);
  CHECK_THROWS_AS(tenon::windows(x, axis<0>, {1}, {0}), tenon::shape_error);
  const tenon::index half = tenon::index{1} << 62;
  CHECK(tenon_test::text_of<tenon::shape_error>(
            [&] { tenon::windows(x, axis<0>, tenon::rank<1>(3), {{1}}, {{half}}); }) ==
        "windows: kernel 3, stride 1, dilation 4611686018427387904, padding 0, expected at least 1, 1, 1 and "
        "0, and windows within 64 bits (extent 4)");
  CHECK_THROWS_AS(tenon::windows(x, axis<0>, {INT64_MIN}, {1}), tenon::shape_error);
  CHECK_THROWS_AS(tenon::windows(x, axis<0>, {1}, {-1}), tenon::shape_error);
}

TEST_CASE("a window that does not fit, or a step of zero, is refused", "[window]") {
  const auto x = counting<float>(rank<2>(4, 2));
  const auto text = tenon_test::text_of<tenon::shape_error>([&] { tenon::windows<3, 3>(x, 1); });
  CHECK(text == "windows: axis 1: extent 2, expected at least 3 (operand [4, 2], step 1)");
  CHECK_THROWS_AS((tenon::windows<2, 2>(x, 0)), tenon::shape_error);
}
