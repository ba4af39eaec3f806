// tests/contraction/narrow_windows.cpp: where taps see images, in short numbers, as patch_geometry says it.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/narrow_windows.hpp>

#include "support/catch.hpp"

TEST_CASE("taps see what they do in longer numbers", "[windows]") {
  const tenon::array<tenon::index, 2> kernel{{3, 2}}, image{{7, 5}};
  for (tenon::index stride = 1; stride <= 3; ++stride) {
    for (tenon::index dilation = 1; dilation <= 2; ++dilation) {
      for (tenon::index step = 1; step <= 2; ++step) {
        const tenon::array<tenon::index, 2> output{{6, 6}};
        const tenon::patch_geometry<2> wide{image,           kernel,   output,     {{stride, 1}},
                                            {{dilation, 1}}, {{2, 1}}, {{step, 1}}};
        const tenon::narrow_windows<2> narrow(wide);
        CHECK(narrow.slide(0) == (stride == 1 && dilation == 1 && step == 1));
        CHECK(narrow.slide(1));
        for (int window = 0; window < 6; ++window) {
          for (int tap = 0; tap < 3; ++tap) {
            for (int axis = 0; axis < 2; ++axis) {
              const int place = narrow.place(axis, window, tap);
              CHECK(place == static_cast<int>(wide.place(axis, window, tap)));
              if (narrow.slide(axis)) CHECK(narrow.place_sliding(axis, window + tap) == place);
            }
          }
        }
      }
    }
  }
}
