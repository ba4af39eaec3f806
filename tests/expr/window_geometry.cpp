// tests/expr/window_geometry.cpp: how many windows there are, and what their taps see.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/window_geometry.hpp>

#include "support/catch.hpp"

TEST_CASE("the number of windows is PyTorch's", "[window_geometry]") {
  STATIC_REQUIRE(tenon::window_count(28, 3, 1, 1) == 28);
  STATIC_REQUIRE(tenon::window_count(7, 3, 2, 0) == 3);
  STATIC_REQUIRE(tenon::window_count(8, 3, 2, 0) == 3);
  STATIC_REQUIRE(tenon::window_count(2, 3, 1, 0) == 0);
  STATIC_REQUIRE(tenon::window_count(17, 3, 2, 2, 2) == 9);
  STATIC_REQUIRE(tenon::window_count(4, 3, 1, 0, 2) == 0);
  STATIC_REQUIRE(tenon::window_count(4, 3, 1, 0, 1, 1) == 3);
  STATIC_REQUIRE(tenon::window_count(4, 3, 1, 2, 1, -1) == 5);
}

TEST_CASE("windows that do not move, have no taps or do not fit 64 bits are refused", "[window_geometry]") {
  using tenon::window_count;
  const tenon::index half = tenon::index{1} << 62;
  CHECK_THROWS_AS(window_count(5, 3, 0, 0), tenon::shape_error);
  CHECK_THROWS_AS(window_count(5, 3, -1, 0), tenon::shape_error);
  CHECK_THROWS_AS(window_count(5, 0, 1, 0), tenon::shape_error);
  CHECK_THROWS_AS(window_count(5, 3, 1, -1), tenon::shape_error);
  CHECK_THROWS_AS(window_count(5, 3, 1, 0, 0), tenon::shape_error);
  CHECK_THROWS_AS(window_count(5, 3, 1, half), tenon::shape_error);
  CHECK_THROWS_AS(window_count(5, 3, 1, 0, half), tenon::shape_error);
  CHECK(window_count(INT64_MAX, 2, 1, 0) == INT64_MAX - 1);
}

TEST_CASE("taps see elements of the image, or the zeros around it", "[window_geometry]") {
  const tenon::window_geometry<1> geometry{.stride = {{2}}, .padding = {{3}}, .dilation = {{2}}};
  const auto windows = tenon::window_counts({{6}}, {{3}}, geometry);
  REQUIRE(windows[0] == 4);
  const auto patches = tenon::patches_of<1>(geometry, {{6}}, {{3}}, windows);
  const tenon::index seen[4][3] = {{-1, -1, 1}, {-1, 1, 3}, {1, 3, 5}, {3, 5, -1}};
  for (tenon::index window = 0; window < 4; ++window) {
    for (tenon::index tap = 0; tap < 3; ++tap) CHECK(patches.place(0, window, tap) == seen[window][tap]);
  }
  CHECK(patches.taps() == 3);
  CHECK(patches.windows() == 4);
}

TEST_CASE("each element of an image sees the windows that it is in", "[window_geometry]") {
  const tenon::window_geometry<1> geometry{.stride = {{2}}, .padding = {{1}}, .dilation = {{3}}};
  const auto forward = tenon::patches_of<1>(geometry, {{9}}, {{3}}, tenon::window_counts({{9}}, {{3}}, geometry));
  const auto backward = tenon::transposed_patches_of<1>(geometry, forward.output, {{3}}, {{9}});
  for (tenon::index place = 0; place < 9; ++place) {
    for (tenon::index tap = 0; tap < 3; ++tap) {
      tenon::index expected = -1;
      for (tenon::index window = 0; window < forward.output[0]; ++window) {
        if (forward.place(0, window, 2 - tap) == place) expected = window;
      }
      CHECK(backward.place(0, place, tap) == expected);
    }
  }
}
