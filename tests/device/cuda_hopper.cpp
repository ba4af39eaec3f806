// tests/device/cuda_hopper.cpp: Hopper's operations for kernels that nvcc compiles.
// What they do is seen where such a device answers, by the tests of the product; here are facts that need none.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/cuda_hopper.hpp>

#include "support/catch.hpp"

TEST_CASE("host code has no Hopper unit", "[device]") {
#if defined(__CUDACC__)
  using unit = tenon::hopper_unit<tenon::cuda_device>;
  CHECK_FALSE(unit::is_available());
  STATIC_REQUIRE(sizeof(unit::tile_map) == 128);
  STATIC_REQUIRE(alignof(unit::tile_map) % 64 == 0);
#endif
  STATIC_REQUIRE(sizeof(tenon::phase_barrier) == 8);
}
