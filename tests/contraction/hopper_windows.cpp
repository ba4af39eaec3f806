// tests/contraction/hopper_windows.cpp: windows in boxes, and the steps of their taps.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/hopper_windows.hpp>

#include "support/catch.hpp"

using tenon::array;

TEST_CASE("boxes cover few windows too many", "[hopper]") {
  const auto boxes = [](const array<int, 4>& windows, int most = 256) {
    return tenon::boxes_of_windows(windows, 7, tenon::filled_array<4>(most));
  };
  CHECK(boxes({{56, 56, 1, 256}}).covered() == 56 * 56 * 256);
  CHECK(boxes({{7, 7, 1, 256}}).covered() == 7 * 7 * 256);
  CHECK(boxes({{128, 1, 1, 1}}).bits == array<int, 4>{{7, 0, 0, 0}});
  CHECK(boxes({{128, 2, 1, 1}}, 64).bits == array<int, 4>{{6, 1, 0, 0}});
  CHECK(boxes({{7, 7, 1, 2}}).covered() == 128);
  for (int i = 0; i < 128; ++i) {  // each window of a box once, none outside
    const tenon::box_lines lines{{{8, 0, 0, 2}}, {{11, 3, 1, 5}}, {{2, 2, 0, 3}}};
    const int x = 8 + i % 4, y = i / 4 % 4, n = 2 + i / 16;
    const bool is_inside = x < 11 && y < 3 && n < 5;
    CHECK((lines[i] < 11 * 3 * 5) == is_inside);
    if (is_inside) CHECK(lines[i] == (n * 3 + y) * 11 + x);
  }
}

TEST_CASE("a step is 64 channels of a tap", "[hopper]") {
  const tenon::tap_steps steps{tenon::divisor(3), {{tenon::divisor(4), tenon::divisor(2)}}, 64, 160};
  const auto place = steps.at(((1 * 2 + 1) * 4 + 2) * 3 + 2);
  CHECK(place.channel == 128);
  CHECK(place.tap == array<int, 3>{{2, 1, 1}});
  const tenon::window_moves moves{{{2, 1, 1}}, {{3, 1, 1}}, {{1, 0, 2}}};
  CHECK(moves.position(128, {{5, 6, 7, 8}}, place.tap) == array<int, 5>{{128, 2 * 5 + 3 * 2 - 1, 7, 6, 8}});
}

TEST_CASE("runs of windows within boxes", "[hopper]") {
  const auto has_runs = [](int windows, int bits, int count) {
    return tenon::box_lines{{}, {{windows, 9, 1, 2}}, {{bits, 7 - bits, 0, 0}}}.has_runs_of(count);
  };
  CHECK(has_runs(16, 3, 8));
  CHECK(has_runs(16, 4, 8));
  CHECK(has_runs(13, 4, 1));
  CHECK_FALSE(has_runs(16, 2, 8));  // boxes are shorter
  CHECK_FALSE(has_runs(12, 3, 8));  // the last run of a line goes on in the next
}
