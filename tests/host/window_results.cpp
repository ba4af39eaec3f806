// tests/host/window_results.cpp: results of windows that lie side by side.
// Of the greatest values of windows of ascending numbers, which are their last ones.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/fold_windows.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

#if !defined(__CUDACC__)
TEST_CASE("windows side by side have no line: whole packs of results, parts of packs, and single ones",
          "[window_results]") {
  const auto x = tenon_test::counting<float>(tenon::rank<3>(2, 8, 150), 0, 1);
  const auto node = tenon::max(tenon::windows<2, 3>(x, 3), tenon::axis<-2, -1>);
  const auto fold = tenon::detail::lower_windows(node, node.shape().to_array());
  using fold_type = std::remove_const_t<decltype(fold)>;
  CHECK(tenon::detail::may_lie_side_by_side<fold_type>);
  tenon::detail::window_lines<fold_type> lines(fold);
  constexpr int width = fold_type::width;
  lines.fold_rows({{3, 6}}, {{5, 50}});
  tenon::index wrong = 0;
  for (tenon::index row = 3; row < 6; ++row) {
    const auto results = lines.results(row - 3);
    const auto expected = [&](tenon::index i) { return x(row / 3, row % 3 * 3 + 1, 3 * i + 2); };
    for (tenon::index i = 5; i < 50; ++i) wrong += results.value(i) != expected(i) ? 1 : 0;
    for (tenon::index i = 5; i + width <= 50; ++i) {
      const auto lanes = results.template pack<width>(i, tenon::whole_access<tenon::reading::adjacent>{});
      const tenon::index rest = i % width;
      const auto part = results.template pack<width>(50 - rest, tenon::partial_access<tenon::reading::adjacent>{rest});
      for (int lane = 0; lane < width; ++lane) wrong += lanes[lane] != expected(i + lane) ? 1 : 0;
      for (int lane = 0; lane < rest; ++lane) wrong += part[lane] != expected(50 - rest + lane) ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
}
#endif
