// tests/grad/windows.cpp: every window that sees an element sends its gradient back.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/windows.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/threads.hpp"

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

namespace {

/// The gradient of windows over the last two of four axes, element by element: what `given` has for each window and tap
/// goes to the element that `element(axis, window, tap)` names, if any.
template <class Given, class Element>
std::vector<double> summed_over_windows(const tenon::array<tenon::index, 4>& extents, const Given& given,
                                        const Element& element) {
  std::vector<double> sums(static_cast<std::size_t>(tenon::count_between(extents, 0, 4)));
  const auto all = given.shape().to_array();
  for (tenon::index i = 0; i < given.size(); ++i) {
    tenon::array<tenon::index, 6> at{};
    tenon::set_position(at, all, 0, 6, i);
    const tenon::index row = element(0, at[2], at[4]), column = element(1, at[3], at[5]);
    if (row < 0 || column < 0) continue;
    const tenon::index plane = at[0] * extents[1] + at[1];
    sums[static_cast<std::size_t>((plane * extents[2] + row) * extents[3] + column)] += given.data()[i];
  }
  return sums;
}
/// Empty where the gradient of `view(x)` is that sum, in one thread and in three, also in a transposed tensor.
template <class View, class Element>
std::string batch_difference(const tenon::rank<4>& extents, const View& view, const Element& element) {
  const tenon::tensor<double, tenon::rank<4>> x = tenon::uniform<double>(extents, 1);
  const auto v = tenon::variable<0>(x);
  const auto seen = view(v);
  const tenon::tensor<double, tenon::rank<6>> given =
      tenon::uniform<double>(tenon::rank<6>(seen.shape().to_array()), 2, -1.0f, 1.0f);
  const auto expected = summed_over_windows(extents.to_array(), given, element);
  const auto [gradient] = tenon::vjp(seen, given, tenon::wrt(v));
  tenon::tensor<double, tenon::rank<4>> turned(
      tenon::rank<4>(extents.extent(1), extents.extent(0), extents.extent(3), extents.extent(2)));
  tenon::permute(turned, tenon::axis<1, 0, 3, 2>) = gradient;
  const tenon::tensor<double, tenon::rank<4>> back = tenon::permute(turned, tenon::axis<1, 0, 3, 2>);
  return tenon_test::difference(tenon_test::numbers_of(gradient), expected, 1e-12) +
         tenon_test::difference(tenon_test::numbers_of(back), expected, 1e-12) +
         (tenon_test::is_same_on_any_threads([&] { return tenon_test::numbers_of(gradient); }) ? "" : "threads; ");
}

}  // namespace

TEST_CASE("gradients of windows over many batches", "[windows]") {
  const tenon::rank<4> extents(5, 3, 70, 80);  // more than one part of axis 0
  const tenon::even_windows<2> even{{{70, 80}}, {{3, 2}}, {{36, 27}}, {{2, 3}}, {{2, 1}}, {{1, 2}}};
  CHECK(batch_difference(
            extents, [&](const auto& x) { return tenon::placed_windows(x, even, tenon::shape<3, 2>{}, 0.0); },
            [&](int axis, tenon::index window, tenon::index tap) { return even.element(axis, window, tap); }) == "");
  const tenon::shared_windows<2> shared{{{70, 80}}, {{4, 7}}};
  const tenon::rank<2> longest(shared.longest(70, 4), shared.longest(80, 7));
  CHECK(batch_difference(
            extents, [&](const auto& x) { return tenon::placed_windows(x, shared, longest, 0.0); },
            [&](int axis, tenon::index window, tenon::index tap) { return shared.element(axis, window, tap); }) == "");
  const auto inside = [](const auto& x) {
    return tenon::windows(x, tenon::axis<2, 3>, tenon::shape<3, 4>{}, {{2, 1}}, {{1, 2}});
  };
  CHECK(batch_difference(extents, inside, [&](int axis, tenon::index window, tenon::index tap) {
          return axis == 0 ? 2 * window + tap : window + 2 * tap;
        }) == "");
  const auto none = [](const auto& x) { return tenon::windows<2, 2>(x, 2); };
  CHECK(batch_difference(tenon::rank<4>(0, 2, 4, 4), none,
                         [](int, tenon::index window, tenon::index tap) { return 2 * window + tap; }) == "");
}

TEST_CASE("gradients of norms of windows", "[windows]") {
  const auto norms = [](const auto& x) {
    const auto seen = tenon::windows<2, 3>(x, 1);
    return tenon::sqrt(tenon::sum(tenon::square(seen), tenon::drop<-1, -2>));
  };
  CHECK(view_difference(norms) == "");
}
