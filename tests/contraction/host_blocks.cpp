// tests/contraction/host_blocks.cpp: how products are cut into blocks.
// Panels cover all columns once, blocks of k depend on the extents alone, and packed lines are found again.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host_blocks.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"

using products = tenon::number_products<float>;
using tile = tenon::host_tile<products>;

TEST_CASE("panels follow each other and cover all columns", "[host]") {
  for (tenon::index columns = 1; columns <= 4 * tile::width; ++columns) {
    const tenon::column_panels<products> panels(columns);
    tenon::index next = 0;
    bool follows = true, is_narrow = false;
    for (tenon::index panel = 0; panel < panels.panels; ++panel) {
      follows = follows && panels.first_column(panel) == next && panels.width(panel) % tile::lanes == 0;
      is_narrow = is_narrow || panels.width(panel) == tile::lanes;
      next += panels.width(panel);
    }
    CAPTURE(columns);
    CHECK(follows);
    CHECK(next == panels.padded());
    CHECK((next >= columns && next < columns + tile::lanes));
    CHECK(is_narrow == (columns <= tile::lanes));
  }
}

TEST_CASE("blocks of k are equal and as few as may be", "[host]") {
  using blocks = tenon::product_blocks<products>;
  CHECK(blocks::depth(0) == 1);
  CHECK(blocks::depth(7) == 7);
  CHECK(blocks::depth(1024) == 1024);
  CHECK(blocks::depth(1025) == 513);
  CHECK(blocks::rows(1) % tile::height == 0);
  CHECK(blocks::rows(1 << 20) == tile::height);
}

TEST_CASE("lines are where they lie before the first that is packed", "[host]") {
  float memory[20] = {}, packed[20] = {};
  const tenon::operand_block<float> block{memory, 3, 1, packed, 4, 5};
  CHECK(block.at(3) == memory + 9);
  CHECK(block.at(4) == packed);
  CHECK(block.at(6) == packed + 10);
}

TEST_CASE("rows of a packed block do not share a set of the cache", "[host]") {
  for (tenon::index count = 1; count <= 2048; count += 3) {
    const tenon::index pitch = tenon::detail::conflict_free_pitch<float>(count);
    CHECK(pitch >= count);
    CHECK(pitch / 16 % 2 == 1);
  }
}

TEST_CASE("little work is one thread's", "[host]") {
  constexpr tenon::index grain = tenon::detail::multiplying_grain;
  const auto check_for = [](tenon::index threads) {
    CHECK(tenon::detail::threads_for(0) == 1);
    CHECK(tenon::detail::threads_for(2 * grain - 1) == 1);
    CHECK(tenon::detail::threads_for(2 * grain) == (threads < 2 ? threads : 2));
    CHECK(tenon::detail::threads_for(100 * grain) == threads);
  };
  check_for(tenon::thread_count());
#if defined(_OPENMP)
  omp_set_num_threads(3);
  check_for(3);
  omp_set_num_threads(omp_get_num_procs());
#endif
}
