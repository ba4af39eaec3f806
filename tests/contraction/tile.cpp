// tests/contraction/tile.cpp: how tiles are shared among warps.
// Each result belongs to one warp, each policy fits into a block.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/tile.hpp>

#include <set>
#include <utility>

#include "support/catch.hpp"

namespace {

/// Whether the warps of a policy cover its tile, each result once.
template <class Policy>
bool covers_tile() {
  std::set<std::pair<int, int>> results;
  for (int warp = 0; warp < Policy::warps; ++warp) {
    for (int i = 0; i < Policy::warp_rows * Policy::warp_columns; ++i) {
      results.insert({Policy::row_of_warp(warp) + i / Policy::warp_columns,
                      Policy::column_of_warp(warp) + i % Policy::warp_columns});
    }
  }
  const auto [last_row, last_column] = *results.rbegin();
  return results.size() == static_cast<std::size_t>(Policy::rows * Policy::columns) &&
         results.size() ==
             static_cast<std::size_t>(Policy::threads / tenon::warp_size) * Policy::warp_rows * Policy::warp_columns &&
         last_row == Policy::rows - 1 && last_column == Policy::columns - 1;
}

template <class Tiles>
void check_tiles() {
  CHECK(covers_tile<typename Tiles::large_tile>());
  CHECK(covers_tile<typename Tiles::small_tile>());
  CHECK(Tiles::small_tile::rows < Tiles::large_tile::rows);
  CHECK(Tiles::large_tile::threads <= 256);
}

}  // namespace

TEST_CASE("warps cover the tiles of all element types", "[tile]") {
  check_tiles<tenon::product_tiles<tenon::half>>();
  check_tiles<tenon::product_tiles<tenon::bfloat16>>();
  check_tiles<tenon::product_tiles<std::int8_t>>();
  check_tiles<tenon::product_tiles<tenon::tf32>>();
  check_tiles<tenon::product_tiles<double>>();
  check_tiles<tenon::lane_tiles<float>>();
  check_tiles<tenon::lane_tiles<std::int64_t>>();
}

TEST_CASE("chunks have 16 bytes", "[tile]") {
  CHECK(tenon::chunk_size<tenon::half> == 8);
  CHECK(tenon::chunk_size<double> == 2);
}
