// tests/host/window_rows.cpp: the rows of values that rows of results of small windows fold.
// Where they lie after each step, and the lines of windows that reach beside their image, by definition.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/fold_windows.hpp>
#include <tenon/host/window_rows.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

#if !defined(__CUDACC__)

using tenon::axis;
using tenon::rank;

namespace {

template <class E>
auto lowered_rows(const E& node) {
  return tenon::detail::lower_windows(node, node.shape().to_array());
}

/// One element of a window's row, or what is beside the image.
float seen_at(const tenon::tensor<float, rank<3>>& x, tenon::index channel, tenon::index row, tenon::index column,
              float outside) {
  const bool is_inside = row >= 0 && row < x.extent(1) && column >= 0 && column < x.extent(2);
  return is_inside ? x(channel, row, column) : outside;
}

/// How many elements of the lines of all rows of results are wrong.
template <class Node>
tenon::index wrong_in_lines(const Node& node, const tenon::tensor<float, rank<3>>& x,
                            const tenon::even_windows<2>& places, float outside) {
  const auto fold = lowered_rows(node);
  tenon::detail::placed_rows<std::remove_const_t<decltype(fold)>> rows(fold);
  const tenon::index rows_of_results = x.extent(0) * places.output[0], begin = 3, pitch = 64;
  const tenon::index length = (places.output[1] - 1) * places.stride[1] + places.kernel[1] - begin;
  std::vector<float> lines(static_cast<std::size_t>(rows_of_results * pitch), 77.0f);
  rows.begin({{begin, begin + length}}, lines.data(), pitch, rows_of_results);
  for (tenon::index row = 0, some = 0; row < rows_of_results; row += some) {
    some = rows.fold(rows.in_step(), lines.data() + row * pitch);
    rows.advance(some);
  }
  tenon::index wrong = 0;
  for (tenon::index row = 0; row < rows_of_results; ++row) {
    const tenon::index channel = row / places.output[0], top = row % places.output[0] * places.stride[0];
    for (tenon::index i = 0; i < pitch; ++i) {
      const auto element = [&](tenon::index tap) {
        return seen_at(x, channel, top + tap * places.dilation[0] - places.padding[0], i + begin - places.padding[1],
                       outside);
      };
      float expected = i < length ? element(0) : 77;
      for (tenon::index tap = 1; tap < places.kernel[0] && i < length; ++tap) {
        expected = decltype(fold)::monoid::combine(expected, element(tap));
      }
      wrong += lines[static_cast<std::size_t>(row * pitch + i)] == expected ? 0 : 1;
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("rows of windows move by steps within a plane, and on to the next", "[window_rows]") {
  const auto x = tenon_test::counting<float>(rank<3>(3, 7, 20), 0, 1);  // of the seven rows a plane uses six
  const auto fold = lowered_rows(tenon::max(tenon::windows<2, 3>(x, 2), axis<-2, -1>));
  tenon::detail::window_rows<std::remove_const_t<decltype(fold)>> rows(fold);
  const auto first_of = [&](int row) { return rows.all()[row].value(0, tenon::no_slots{}); };
  CHECK(rows.in_step() == 3);
  rows.advance(2);
  CHECK(rows.in_step() == 1);
  CHECK(first_of(0) == x(0, 4, 0));
  rows.advance(1);
  CHECK(rows.in_step() == 3);
  CHECK(first_of(1) == x(1, 1, 0));
  rows.move_to(7);
  CHECK(rows.in_step() == 2);
  CHECK(first_of(0) == x(2, 2, 0));
  rows.move_to(7);
  CHECK(first_of(1) == x(2, 3, 0));
}

TEST_CASE("rows of windows move through planes that are not one axis", "[window_rows]") {
  const auto x = tenon_test::counting<float>(rank<4>(3, 2, 5, 9), 0, 1);
  const auto turned = tenon::permute(x, axis<1, 0, 2, 3>);
  const auto node = tenon::max(tenon::windows<2, 3>(turned, 1), axis<-2, -1>);  // (2, 3, 4, 7)
  const auto fold = lowered_rows(node);
  tenon::detail::window_rows<std::remove_const_t<decltype(fold)>> rows(fold);
  tenon::index wrong = 0;
  for (tenon::index row = 0, some = 3; row < 24; row += some, some = 4 - some) {
    for (const int tap : {0, 1}) {
      const float expected = x(row / 4 % 3, row / 12, row % 4 + tap, 0);
      wrong += rows.all()[tap].value(0, tenon::no_slots{}) == expected ? 0 : 1;
    }
    rows.advance(some);
  }
  CHECK(wrong == 0);
}

TEST_CASE("lines of windows that reach beside their image", "[window_rows]") {
  for (const tenon::index height : {1, 2, 5, 9}) {
    for (const tenon::index padding : {0, 1, 2, 30}) {
      for (const tenon::index stride : {1, 2, 7}) {
        const auto x = tenon_test::counting<float>(rank<3>(2, height, 17), 1, 2);
        const tenon::even_windows<2> places{
            {{height, 17}}, {{3, 3}}, {{6, 11}}, {{stride, 2}}, {{padding, padding}}, {{1 + padding % 2, 1}}};
        const auto placed = tenon::placed_windows(x, places, tenon::shape<3, 3>{}, 4.5f);
        CAPTURE(height, padding, stride);
        CHECK(wrong_in_lines(tenon::max(placed, axis<-2, -1>), x, places, 4.5f) == 0);
        CHECK(wrong_in_lines(tenon::sum(placed, axis<-2, -1>), x, places, 4.5f) == 0);
      }
    }
  }
}

#endif
