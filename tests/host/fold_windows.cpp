// tests/host/fold_windows.cpp: which reductions are ones of small windows, and how these are folded.
// What types promise is asserted; lines and their results are compared with loops.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/fold_windows.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::axis;
using tenon::rank;
using tenon::windows;

namespace {

using image_type = tenon::tensor<float, rank<3>>;

auto greatest_of(const image_type& x, tenon::index step) { return tenon::max(windows<2, 3>(x, step), axis<-2, -1>); }

template <class E>
auto lowered(const E& node) {
  return tenon::detail::lower_windows(node, node.shape().to_array());
}

}  // namespace

#if !defined(__CUDACC__)
TEST_CASE("types say which reductions may be ones of windows", "[fold_windows]") {
  using tenon::detail::folds_windows;
  const image_type x({2, 8, 20});
  const auto slid = windows<2, 3>(x, 1);
  CHECK(folds_windows<decltype(greatest_of(x, 1))>);
  CHECK(folds_windows<decltype(tenon::mean(slid * 2, tenon::drop<-1>))>);
  CHECK_FALSE(folds_windows<decltype(tenon::sum(x, axis<-1>))>);        // of any length
  CHECK_FALSE(folds_windows<decltype(tenon::sum(slid))>);               // one result
  CHECK_FALSE(folds_windows<decltype(tenon::argmax(slid, axis<-1>))>);  // not in lanes
  CHECK_FALSE(folds_windows<decltype(tenon::max(windows<9, 9>(x, 1), axis<-2, -1>))>);
  CHECK_FALSE(folds_windows<decltype(tenon::sum(slid - tenon::mean(slid, axis<-2, -1>), axis<-2, -1>))>);
}

TEST_CASE("windows are on a line where neighbours begin a few elements apart", "[fold_windows]") {
  using tenon::detail::is_on_line;
  const image_type x({2, 8, 20});
  for (const tenon::index step : {1, 2, 3}) {
    const auto fold = lowered(greatest_of(x, step));
    CHECK(fold.step == step);
    CHECK(is_on_line(fold));
  }
  CHECK_FALSE(is_on_line(lowered(greatest_of(x, 4))));  // elements between windows belong to none
  const tenon::tensor<float, rank<2>> weight({2, 3});
  CHECK_FALSE(is_on_line(lowered(tenon::max(windows<2, 3>(x, 1) * weight, axis<-2, -1>))));
  CHECK_FALSE(is_on_line(lowered(tenon::max(weight * windows<2, 3>(x, 1), axis<-2, -1>))));  // whichever stands first
  CHECK_FALSE(is_on_line(
      lowered(greatest_of(tenon::evaluated_tensor(x), 1)
                  .with_operands(tenon::make_tuple_of(tenon::as_node(windows<2, 3>(tenon::transpose(x), 1)))))));
}

TEST_CASE("short rows of operands, some the same for every row, in any order", "[fold_windows]") {
  constexpr int columns = 3;
  auto x = tenon::tensor<float, rank<2>>({9, columns});
  for (tenon::index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i % 7);
  const tenon::tensor<float, tenon::shape<columns>> weight = {1, 2, 3};
  const tenon::tensor<float, rank<1>> first = tenon::sum(weight * x, tenon::drop<1>),
                                      last = tenon::sum(x * weight, tenon::drop<1>),
                                      between = tenon::sum(weight * x * weight, tenon::drop<1>);
  for (tenon::index row = 0; row < 9; ++row) {
    float sum = 0, squares = 0;
    for (tenon::index i = 0; i < columns; ++i) {
      sum += x(row, i) * weight(i), squares += x(row, i) * weight(i) * weight(i);
    }
    CHECK(first(row) == sum);
    CHECK(last(row) == sum);
    CHECK(between(row) == squares);
  }
}

TEST_CASE("windows that reach beside their operand are on its lines", "[fold_windows]") {
  const image_type x({2, 8, 20});
  const auto fold = [&](const auto& operand, tenon::index dilation) {
    const tenon::even_windows<2> places{{{8, 20}}, {{2, 3}}, {{4, 9}}, {{2, 2}}, {{0, 1}}, {{1, dilation}}};
    return lowered(tenon::max(tenon::placed_windows(operand, places, tenon::shape<2, 3>{}, 0.0f), axis<-2, -1>));
  };
  CHECK(fold(x, 1).step == 2);
  CHECK(is_on_line(fold(x, 1)));
  CHECK_FALSE(is_on_line(fold(x, 2)));  // between two elements of a window lies one that it does not see
  const tenon::tensor<float, rank<3>> turned({2, 20, 8});
  CHECK_FALSE(is_on_line(fold(tenon::transpose(turned), 1)));
}

TEST_CASE("lines of rows, and the results that are folded from them", "[fold_windows]") {
  const auto x = tenon_test::counting<float>(rank<3>(2, 8, 150), 0, 1);
  const auto node = greatest_of(x, 2);
  const auto fold = lowered(node);
  tenon::detail::window_lines<std::remove_const_t<decltype(fold)>> lines(fold, false);
  const tenon::index part_begin = 10, part_end = 70;
  const tenon::index most = lines.most_rows(fold, part_end - part_begin, false);
  REQUIRE(most >= 3);
  tenon::index wrong = 0;
  for (const tenon::index first : {0, 3, 1}) {  // of eight rows of results, four a channel
    lines.fold_rows({{first, first + 3}}, {{part_begin, part_end}});
    for (tenon::index row = first; row < first + 3; ++row) {
      const auto results = lines.results(row - first);
      for (tenon::index i = part_begin; i < part_end; ++i) {
        const float expected = x(row / 4, row % 4 * 2 + 1, 2 * i + 2);
        const auto lane = results.template pack<1>(i, tenon::whole_access<tenon::reading::adjacent>{});
        wrong += results.value(i) != expected || lane != expected ? 1 : 0;
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("planes without a rest are one", "[fold_windows]") {
  const image_type even({3, 8, 20}), odd({3, 9, 20});
  CHECK(lowered(greatest_of(even, 2)).extents[1] == 12);
  CHECK(lowered(greatest_of(odd, 2)).extents[1] == 4);
}
#endif
