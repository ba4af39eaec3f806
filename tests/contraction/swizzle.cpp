// tests/contraction/swizzle.cpp: every chunk of a tile has a place of its own, and neighbours lie in different banks.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/dtype.hpp>
#include <tenon/contraction/swizzle.hpp>

#include <set>

#include "support/catch.hpp"

namespace {

using tenon::tile_layout;

template <class T, int Lines, int Depth>
void check_places() {
  using placement = tenon::swizzled_placement<T, Lines, Depth>;
  constexpr int chunk = tenon::chunk_size<T>;
  CAPTURE(sizeof(T), Lines, Depth);
  std::set<int> along_depth, along_lines;
  for (int line = 0; line < Lines; ++line) {
    for (int i = 0; i < Depth / chunk; ++i) along_depth.insert(placement::offset(tile_layout::along_depth, line, i));
  }
  for (int depth = 0; depth < Depth; ++depth) {
    for (int i = 0; i < Lines / chunk; ++i) along_lines.insert(placement::offset(tile_layout::along_lines, depth, i));
  }
  for (const auto& places : {along_depth, along_lines}) {
    CHECK(static_cast<int>(places.size()) == Lines * Depth / chunk);
    CHECK(*places.begin() == 0);
    CHECK(*places.rbegin() == placement::elements - chunk);
    for (const int place : places) REQUIRE(place % chunk == 0);
  }
}

}  // namespace

TEST_CASE("chunks have places of their own within a tile", "[swizzle]") {
  check_places<tenon::half, 128, 32>();
  check_places<tenon::half, 64, 64>();
  check_places<tenon::half, 32, 16>();
  check_places<float, 128, 16>();
  check_places<float, 64, 32>();
  check_places<std::int8_t, 128, 64>();
  check_places<std::int8_t, 64, 32>();
}

TEST_CASE("lines and their registers are each other's inverse", "[swizzle]") {
  for (int line = 0; line < 16; ++line) {
    CHECK(tenon::line_in_registers<float>(tenon::line_in_tile<float>(line)) == line);
    CHECK(tenon::line_in_registers<tenon::half>(line) == line);
  }
  CHECK(tenon::line_in_tile<std::int8_t>(3) == 6);
  CHECK(tenon::line_in_tile<std::int8_t>(11) == 7);
}
