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

TEST_CASE("a window that does not fit, or a step of zero, is refused", "[window]") {
  const auto x = counting<float>(rank<2>(4, 2));
  const auto text = tenon_test::text_of<tenon::shape_error>([&] { tenon::windows<3, 3>(x, 1); });
  CHECK(tenon_test::has(text, "windows: extents 4 and 2, expected at least 3 and 3"));
  CHECK_THROWS_AS((tenon::windows<2, 2>(x, 0)), tenon::shape_error);
}
