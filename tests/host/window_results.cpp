// tests/host/window_results.cpp: results of windows, folded from lines.
// Of the greatest values of windows of ascending numbers, which are their last ones.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/fold_windows.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

#if !defined(__CUDACC__)
TEST_CASE("results of joined rows are one row: whole packs of them, and single ones", "[window_results]") {
  const auto x = tenon_test::counting<float>(tenon::rank<3>(2, 8, 150), 0, 1);
  const auto node = tenon::max(tenon::windows<2, 3>(x, 3), tenon::axis<-2, -1>);
  const auto fold = tenon::detail::lower_windows(node, node.shape().to_array());
  using fold_type = std::remove_const_t<decltype(fold)>;
  tenon::detail::window_lines<fold_type> lines(fold, true);
  constexpr int width = fold_type::width;
  constexpr tenon::index length = 50;
  lines.fold_rows({{1, 4}}, {{0, length}});  // two of the first channel, one of the second
  const auto results = lines.results(0);
  const auto expected = [&](tenon::index i) { return x(i / length / 3, i / length % 3 * 3 + 1, 3 * (i % length) + 2); };
  tenon::index wrong = 0;
  for (tenon::index i = length; i < 4 * length; ++i) wrong += results.value(i) != expected(i) ? 1 : 0;
  for (tenon::index i = length; i + width <= 4 * length; ++i) {
    const auto lanes = results.template pack<width>(i, tenon::whole_access<tenon::reading::adjacent>{});
    for (int lane = 0; lane < width; ++lane) wrong += lanes[lane] != expected(i + lane) ? 1 : 0;
  }
  CHECK(wrong == 0);
}
#endif
