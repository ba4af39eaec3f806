// tests/algorithms/grid_places.cpp: places of one axis: what they count, and elements in mirrors.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/grid_places.hpp>
#include <vector>

#include "support/catch.hpp"

namespace {

using tenon::grid_mode;
using tenon::grid_padding;
using tenon::detail::sampled_axis;

std::vector<tenon::index> elements_from(tenon::index first, tenon::index last, grid_padding padding, bool aligns,
                                        tenon::index extent) {
  const sampled_axis<double> axis({grid_mode::bicubic, padding, aligns}, extent);
  std::vector<tenon::index> found;
  for (tenon::index number = first; number <= last; ++number) found.push_back(axis.element<4>(number));
  return found;
}

}  // namespace

TEST_CASE("elements beside an image are nothing, its border, or those in mirrors", "[grid_places]") {
  using all = std::vector<tenon::index>;
  CHECK(elements_from(-2, 3, grid_padding::zeros, false, 2) == all{-2, -1, 0, 1, 2, 3});
  CHECK(elements_from(-2, 4, grid_padding::border, false, 3) == all{0, 0, 0, 1, 2, 2, 2});
  CHECK(elements_from(-4, 6, grid_padding::reflection, false, 3) == all{2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0});
  CHECK(elements_from(-4, 6, grid_padding::reflection, true, 3) == all{0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2});
  CHECK(elements_from(-2, 2, grid_padding::reflection, true, 1) == all{0, 0, 0, 0, 0});
  CHECK(elements_from(-2, 2, grid_padding::reflection, false, 1) == all{0, 0, 0, 0, 0});
}

TEST_CASE("the elements of a place count 1 in all, and grow by 0", "[grid_places]") {
  for (const auto mode : {grid_mode::bilinear, grid_mode::nearest, grid_mode::bicubic}) {
    for (const auto padding : {grid_padding::zeros, grid_padding::border, grid_padding::reflection}) {
      const sampled_axis<double> axis({mode, padding, false}, 5);
      for (double at = -4; at < 4; at += 0.3) {
        CAPTURE(static_cast<int>(mode), static_cast<int>(padding), at);
        double weights = 0, growths = 0;
        const auto add = [&](const auto& place, tenon::index taps) {
          for (tenon::index k = 0; k < taps; ++k) weights += place.weight(k), growths += place.growth(k);
        };
        if (mode == grid_mode::bicubic) add(axis.place<4>(at), 4);
        else add(axis.place<2>(at), 2);
        CHECK(weights == Approx(1));
        CHECK(growths == Approx(0).margin(1e-12));
      }
    }
  }
}
