// tests/grad/windows.cpp: every window that sees an element sends its gradient back.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/windows.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"

using tenon_test::view_difference;

namespace {

/// How many pairs of an element and a number for a window that sees it exist, each of which comes back from the window
/// and tap that it is; -1 where one does not.
template <class Windows>
int pairs_that_come_back(const Windows& windows) {
  const tenon::window_membership_map<true, double, 0, Windows> to_window{windows};
  const tenon::window_membership_map<false, double, 0, Windows> seen{windows};
  int found = 0;
  for (tenon::index element = 0; element < windows.image[0]; ++element) {
    for (tenon::index k = 0; k < windows.windows_over(0); ++k) {
      const tenon::array<tenon::index, 2> position{{element, k}};
      if (!to_window.contains(position)) continue;
      const auto window = to_window(position);
      if (!seen.contains(window) || !(seen(window) == position)) return -1;
      ++found;
    }
  }
  return found;
}

}  // namespace

TEST_CASE("windows and elements name each other", "[windows]") {
  CHECK(pairs_that_come_back(tenon::even_windows<1>{{{9}}, {{3}}, {{4}}, {{2}}, {{1}}, {{2}}}) == 10);
  CHECK(pairs_that_come_back(tenon::shared_windows<1>{{{7}}, {{3}}}) == 9);
  CHECK(pairs_that_come_back(tenon::shared_windows<1>{{{3}}, {{7}}}) == 9);
}

TEST_CASE("windows that reach beside the operand, or divide it", "[windows]") {
  const tenon::even_windows<2> even{{{4, 6}}, {{3, 2}}, {{3, 3}}, {{1, 2}}, {{1, 0}}, {{1, 2}}};
  CHECK(view_difference([&](const auto& x) { return tenon::placed_windows(x, even, tenon::shape<3, 2>{}, 5.0); }) ==
        "");
  const tenon::shared_windows<2> shared{{{4, 6}}, {{3, 4}}};
  CHECK(view_difference([&](const auto& x) {
          return tenon::placed_windows(x, shared, tenon::rank<2>(shared.longest(4, 3), shared.longest(6, 4)), 5.0);
        }) == "");
}

TEST_CASE("gradients of windows have gradients themselves", "[windows]") {
  const tenon::even_windows<1> even{{{7}}, {{3}}, {{3}}, {{2}}, {{1}}, {{2}}};
  auto x = tenon_test::drawn(tenon::rank<1>(7), 4);
  auto weights = tenon_test::drawn(tenon::rank<2>(3, 3), 5);
  const auto gradient = [&](const auto& w) {
    const auto seen = tenon::placed_windows(tenon::as_node(x), even, tenon::shape<3>{}, 5.0);
    return tenon::operand_gradient<0>(seen, w * w);
  };
  CHECK(tenon_test::gradient_difference(gradient, weights) == "");
  const auto of_gradient = [&](const auto& v) {
    const auto w = tenon::variable<1>(weights);
    return tenon::get<0>(tenon::vjp(gradient(w), v * v, tenon::wrt(w)));
  };
  CHECK(tenon_test::gradient_difference(of_gradient, x) == "");
}
