// tests/device/caches.cpp: how large the caches are.
// Whatever the machine says, sizes are such that blocks can follow them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/caches.hpp>

#include "support/catch.hpp"

TEST_CASE("caches have sizes and grow outwards", "[caches]") {
  const auto& sizes = tenon::caches();
  CHECK(sizes.first >= 4096);
  CHECK(sizes.second >= sizes.first);
  CHECK(&tenon::caches() == &sizes);
}

TEST_CASE("what the system does not know is taken to be small", "[caches]") {
  CHECK(tenon::detail::cache_size(-1, 12345) == 12345);
}
