// tests/contraction/weight_tiles.cpp: what tiles of weights take, and where weights lie.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/weight_tiles.hpp>
#include <tenon/expressions.hpp>
#include <vector>

#include "support/catch.hpp"

TEMPLATE_TEST_CASE("every weight of a tile has a place of its own", "[attention]", float, double, tenon::half) {
  using tiles = tenon::weight_tiles<typename tenon::attention_units<TestType>::unit>;
  std::vector<bool> taken(static_cast<std::size_t>(tiles::weight_elements));
  for (int row = 0; row < tiles::rows; ++row) {
    for (int column = 0; column < tiles::columns; ++column) {
      const int place = tiles::place_of(row, column);
      REQUIRE((place >= 0 && place < tiles::weight_elements));
      REQUIRE(!taken[static_cast<std::size_t>(place)]);
      taken[static_cast<std::size_t>(place)] = true;
    }
  }
  STATIC_REQUIRE(tiles::columns % tenon::warp_size == 0);
  constexpr int pitch = tiles::columns + tenon::chunk_size<typename tiles::number>;  // of sums and gradients
  STATIC_REQUIRE(tiles::ring_bytes + 2 * tenon::shared_bytes_of<typename tiles::number>(tiles::rows * pitch) +
                     tenon::shared_bytes_of<typename tiles::element>(tiles::weight_elements) <=
                 64 * 1024);  // what a block has at least, on any device
}
