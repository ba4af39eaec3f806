// tests/contraction/register_tiles.cpp: places of tiles whose products stay in registers.
// A tile is read as lines along the depth and across; lanes name each row and column once.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/register_tiles.hpp>
#include <vector>

#include "support/catch.hpp"

namespace {

using register_tile_types = std::tuple<tenon::register_tiles<tenon::half, 64, 128, 64, 32>,
                                       tenon::register_tiles<tenon::bfloat16, 128, 64, 32, 16>>;

/// A lane of a block.
struct numbered_lane {
  int thread;

  int lane() const { return thread % tenon::warp_size; }
  int warp() const { return thread / tenon::warp_size; }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("lines of a tile and lines across it lie in the same places", "[register_tiles]",
                        register_tile_types) {
  using along = typename TestType::column_placement;
  using across = typename TestType::across_placement;
  for (int line = 0; line < TestType::columns; ++line) {
    for (int chunk = 0; chunk < along::depth / 8; ++chunk) {
      REQUIRE(along::offset(tenon::tile_layout::along_depth, line, chunk) ==
              across::offset(tenon::tile_layout::along_lines, line, chunk));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("every sum of a tile belongs to one lane", "[register_tiles]", register_tile_types) {
  std::vector<int> owners(static_cast<std::size_t>(TestType::rows * TestType::columns));
  for (int thread = 0; thread < TestType::threads; ++thread) {
    const numbered_lane device{thread};
    typename TestType::line_sums sums{};
    TestType::visit(device, sums, [&](float&, int row, int column) {
      ++owners[static_cast<std::size_t>(row * TestType::columns + column)];
    });
  }
  CHECK(owners == std::vector<int>(owners.size(), 1));
}
