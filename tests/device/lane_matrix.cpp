// tests/device/lane_matrix.cpp: which lane holds what of a matrix.
// The numbers are those of PTX's figures of m16n8k16, m16n8k8 and m16n8k32.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/lane_matrix.hpp>

#include <set>
#include <utility>

#include "support/catch.hpp"

static_assert(tenon::lane_product_depth<tenon::half> == 16);
static_assert(tenon::lane_product_depth<tenon::bfloat16> == 16);
static_assert(tenon::lane_product_depth<tenon::tf32> == 8);
static_assert(tenon::lane_product_depth<std::int8_t> == 32);
static_assert(tenon::has_lane_products<tenon::half> && !tenon::has_lane_products<double>);
static_assert(!tenon::has_lane_products<float>);
static_assert(tenon::block_load_is_legal<true, tenon::half> && !tenon::block_load_is_legal<true, std::int8_t>);
static_assert(tenon::block_load_is_legal<false, std::int8_t> && !tenon::block_load_is_legal<false, double>);

TEST_CASE("lanes hold two neighbours of a row and two eight rows below", "[device]") {
  std::set<std::pair<int, int>> seen;
  for (int lane = 0; lane < tenon::warp_size; ++lane) {
    for (int slot = 0; slot < 4; ++slot) {
      seen.emplace(tenon::lane_sum_row(lane, slot), tenon::lane_sum_column(lane, slot));
    }
  }
  CHECK(seen.size() == 16 * 8);
  CHECK(*seen.begin() == std::pair(0, 0));
  CHECK(*seen.rbegin() == std::pair(15, 7));
  CHECK(tenon::lane_sum_row(13, 1) == 3);
  CHECK(tenon::lane_sum_column(13, 1) == 3);
  CHECK(tenon::lane_sum_row(13, 2) == 11);
  CHECK(tenon::lane_sum_column(13, 2) == 2);
}
