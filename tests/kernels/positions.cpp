// tests/kernels/positions.cpp: positions by number, narrow and wide, against counting.
// A space of more than 2^31 positions costs nothing to number.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/kernels/positions.hpp>

#include "support/catch.hpp"

using tenon::array;

TEST_CASE("a grid has a thread for each position, up to a limit", "[positions]") {
  CHECK(tenon::blocks_for(0) == 0);
  CHECK(tenon::blocks_for(1) == 1);
  CHECK(tenon::blocks_for(256) == 1);
  CHECK(tenon::blocks_for(257) == 2);
  CHECK(tenon::blocks_for(tenon::index{1} << 40) == 65536);
}

TEST_CASE("numbers count positions in row-major order", "[positions]") {
  const array<tenon::index, 4> extents{{3, 1, 5, 7}};
  const tenon::numbered_positions<4> positions(extents);
  CHECK(positions.count() == 105);
  CHECK(positions.is_narrow());
  array<tenon::index, 4> expected{};
  for (tenon::index number = 0; number < 105; ++number) {
    CAPTURE(number);
    CHECK(positions[number] == expected);
    tenon::advance_position(expected, extents, 0, 4);
  }
}

TEST_CASE("positions beyond 32 bits are numbered as well", "[positions]") {
  const tenon::index large = tenon::index{1} << 33;
  const tenon::numbered_positions<3> positions(array<tenon::index, 3>{{2, large, 3}});
  CHECK_FALSE(positions.is_narrow());
  CHECK(positions[3 * large + 3 * (large - 1) + 2] == array<tenon::index, 3>{{1, large - 1, 2}});
}

TEST_CASE("an empty space has no positions, one without axes has one", "[positions]") {
  CHECK(tenon::numbered_positions<2>(array<tenon::index, 2>{{0, 4}}).count() == 0);
  CHECK(tenon::numbered_positions<0>(array<tenon::index, 0>{}).count() == 1);
  CHECK(tenon::numbered_positions<0>(array<tenon::index, 0>{})[0] == array<tenon::index, 0>{});
}

TEST_CASE("results start at the positions of their axes", "[positions]") {
  const array<tenon::index, 3> result{{4, 6, 5}};
  const tenon::result_positions<4> starts(array<int, 4>{{2, 0, -1, 1}}, result);
  tenon::index number = 0;
  for (tenon::index i = 0; i < 4; ++i) {
    for (tenon::index j = 0; j < 6; ++j) {
      for (tenon::index k = 0; k < 5; ++k, ++number) {
        CHECK(starts[number] == array<tenon::index, 4>{{k, i, 0, j}});
      }
    }
  }
  const tenon::index large = tenon::index{1} << 33;
  const tenon::result_positions<2> wide(array<int, 2>{{1, 0}}, array<tenon::index, 2>{{3, large}});
  CHECK(wide[2 * large + 7] == array<tenon::index, 2>{{7, 2}});
}
