// tests/device/cuda_warpgroup.cpp: products of warpgroups as nvcc compiles them.
// tests/instructions looks at what becomes of them; here is what their statements rely on.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/cuda_warpgroup.hpp>

#include "support/catch.hpp"

TEST_CASE("a thread holds as many sums as a statement names registers", "[device]") {
  using tenon::column_major;
  using tenon::row_major;
  STATIC_REQUIRE(tenon::warpgroup_product<tenon::half, 64, row_major, row_major>::sums == 32);
  STATIC_REQUIRE(tenon::warpgroup_product<tenon::half, 128, row_major, row_major>::sums == 64);
  STATIC_REQUIRE(tenon::warpgroup_product<tenon::bfloat16, 256, row_major, row_major>::sums == 128);
  STATIC_REQUIRE_FALSE(tenon::warpgroup_product<tenon::half, 64, row_major, column_major>::left_has_rows_adjacent);
  STATIC_REQUIRE_FALSE(tenon::warpgroup_product<tenon::half, 64, row_major, column_major>::right_has_columns_adjacent);
  STATIC_REQUIRE(tenon::warpgroup_product<tenon::half, 64, column_major, row_major>::left_has_rows_adjacent);
  STATIC_REQUIRE(tenon::warpgroup_product<tenon::half, 64, column_major, row_major>::right_has_columns_adjacent);
}
