// tests/grad/windows.cpp: every window that sees an element sends its gradient back.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/windows.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"

using tenon_test::view_difference;

TEST_CASE("windows that reach beside the operand, or divide it", "[windows]") {
  const tenon::even_windows<2> even{{{4, 6}}, {{3, 2}}, {{3, 3}}, {{1, 2}}, {{1, 0}}, {{1, 2}}};
  CHECK(view_difference([&](const auto& x) { return tenon::placed_windows(x, even, tenon::shape<3, 2>{}, 5.0); }) ==
        "");
  const tenon::shared_windows<2> shared{{{4, 6}}, {{3, 4}}};
  CHECK(view_difference([&](const auto& x) {
          return tenon::placed_windows(x, shared, tenon::rank<2>(shared.longest(4, 3), shared.longest(6, 4)), 5.0);
        }) == "");
}
