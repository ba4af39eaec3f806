// tests/expr/views/placed_windows.cpp: which element every tap of every window sees, and which windows see an element.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/placed_windows.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon::shape;
using tenon_test::numbers_of;

/// Whether the windows that an element is said to be seen by are those whose taps see it.
template <class Windows>
bool windows_agree(const Windows& windows, tenon::index taps) {
  for (tenon::index element = 0; element < windows.image[0]; ++element) {
    std::vector<tenon::index> said, expected;
    for (tenon::index k = 0; k < windows.windows_over(0); ++k) {
      const tenon::index window = windows.window_over(0, element, k);
      if (window < 0) continue;
      said.push_back(window);
      if (windows.element(0, window, windows.tap(0, element, window)) != element) return false;
    }
    for (tenon::index window = 0; window < windows.output[0]; ++window) {
      for (tenon::index tap = 0; tap < taps; ++tap) {
        if (windows.element(0, window, tap) == element) expected.push_back(window);
      }
    }
    std::sort(said.begin(), said.end());
    if (said != expected) return false;
  }
  return true;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("windows reach beside the operand", "[placed_windows]", tenon_test::spaces) {
  const auto x = tenon_test::counting<float, TestType>(shape<2, 5>{}, 1);
  const tenon::even_windows<1> windows{{{5}}, {{3}}, {{3}}, {{2}}, {{1}}, {{2}}};
  const auto parts = tenon::placed_windows(x, windows, shape<3>{}, -1.0f);
  STATIC_REQUIRE(std::is_same_v<typename decltype(parts)::shape_type, shape<2, tenon::dyn, 3>>);
  CHECK(numbers_of(parts) == std::vector<double>{-1, 2, 4, 2, 4, -1, 4, -1, -1, -1, 7, 9, 7, 9, -1, 9, -1, -1});
}

TEMPLATE_LIST_TEST_CASE("windows share an operand out", "[placed_windows]", tenon_test::spaces) {
  const auto x = tenon_test::counting<float, TestType>(rank<1>(5), 1);
  const tenon::shared_windows<1> windows{{{5}}, {{3}}};
  const auto parts = tenon::placed_windows(x, windows, rank<1>(windows.longest(5, 3)), 0.0f);
  CHECK(tenon_test::extents_of(parts) == std::vector<tenon::index>{3, 3});
  CHECK(numbers_of(parts) == std::vector<double>{1, 2, 0, 2, 3, 4, 4, 5, 0});
}

TEST_CASE("the windows that see an element are found from it", "[placed_windows]") {
  for (const tenon::index stride : {1, 2, 3}) {
    for (const tenon::index dilation : {1, 2}) {
      for (const tenon::index padding : {0, 1}) {
        CHECK(windows_agree(tenon::even_windows<1>{{{9}}, {{3}}, {{5}}, {{stride}}, {{padding}}, {{dilation}}}, 3));
      }
    }
  }
  for (tenon::index extent = 1; extent < 8; ++extent) {
    for (tenon::index count = 1; count < 8; ++count) {
      const tenon::shared_windows<1> windows{{{extent}}, {{count}}};
      CHECK(windows_agree(windows, windows.longest(extent, count)));
    }
  }
}

TEST_CASE("lines of taps know where they lie, and how many of the next ones lie in the image", "[placed_windows]") {
  const tenon::even_windows<2> windows{{{9, 6}}, {{3, 3}}, {{4, 5}}, {{2, 1}}, {{1, 4}}, {{3, 1}}};
  const tenon::window_map<float, 1, tenon::even_windows<2>> map{windows, 0.0f};
  using position = tenon::array<tenon::index, 5>;
  using place = tenon::array<tenon::index, 3>;
  CHECK(map.distance(position{{7, 2, 1, 1, 2}}) == place{{7, 7, 3}});
  CHECK(map.place(position{{7, 2, 1, 1, 2}}) == place{{7, 6, -1}});
  const auto lines = [&](tenon::index first, tenon::index apart, tenon::index most) {
    return map.lines_inside({{0, first, -50}}, {{5, apart, 0}}, most);
  };
  CHECK(lines(-1, 2, 4) == 0);
  CHECK(lines(9, -2, 4) == 0);
  CHECK(lines(0, 2, 4) == 4);
  CHECK(lines(0, 2, 7) == 5);
  CHECK(lines(8, 2, 7) == 1);
  CHECK(lines(8, -3, 7) == 3);
  CHECK(lines(5, 0, 7) == 7);
  const auto part = [&](tenon::index first, tenon::index begin, tenon::index end) {
    return map.part_inside({{0, 0, first}}, {{begin, end}});
  };
  using bounds = tenon::array<tenon::index, 2>;
  CHECK(part(-4, 0, 20) == bounds{{4, 10}});
  CHECK(part(-4, 5, 8) == bounds{{5, 8}});
  CHECK(part(2, 0, 8) == bounds{{0, 4}});
  for (const tenon::index beside : {-30, 9}) {  // nothing of the line lies in the image
    const auto none = part(beside, 3, 7);
    CHECK(none[0] == none[1]);
    CHECK((none[0] >= 3 && none[1] <= 7));
  }
}

TEST_CASE("windows that do not move or lie beyond 64 bits are refused", "[placed_windows]") {
  const auto x = tenon_test::counting<float>(tenon::rank<1>(5));
  const auto refused = [&](const auto& windows) {
    const auto statement = [&] { (void)tenon::placed_windows(x, windows, tenon::rank<1>(3), 0.0f); };
    return tenon_test::text_of<tenon::shape_error>(statement).find("placed_windows: windows along axis 0") == 0;
  };
  const tenon::index half = tenon::index{1} << 62;
  CHECK(refused(tenon::even_windows<1>{{{5}}, {{3}}, {{3}}, {{0}}, {{1}}, {{1}}}));
  CHECK(refused(tenon::even_windows<1>{{{5}}, {{3}}, {{3}}, {{1}}, {{1}}, {{0}}}));
  CHECK(refused(tenon::even_windows<1>{{{5}}, {{3}}, {{3}}, {{half}}, {{1}}, {{1}}}));
  CHECK(refused(tenon::even_windows<1>{{{5}}, {{3}}, {{3}}, {{1}}, {{1}}, {{half}}}));
  CHECK(refused(tenon::shared_windows<1>{{{5}}, {{half}}}));
}

TEST_CASE("windows on an image of other extents are refused", "[placed_windows]") {
  const auto x = tenon_test::counting<float>(tenon::rank<2>(4, 6));
  const tenon::even_windows<2> windows{{{4, 7}}, {{3, 3}}, {{2, 5}}, {{1, 1}}, {{0, 0}}, {{1, 1}}};
  CHECK(tenon_test::text_of<tenon::shape_error>([&] {
          (void)tenon::placed_windows(x, windows, tenon::rank<2>(3, 3), 0.0f);
        }) == "placed_windows: axis 1: extent 6 of the operand [4, 6], expected 7 of the image [4, 7]");
}
