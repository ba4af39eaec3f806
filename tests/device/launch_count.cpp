// tests/device/launch_count.cpp: counting launches.
// Fusion promises are tested in these numbers, so they must be exact and each thread's own.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/launch_count.hpp>

#include <string>
#include <thread>

#include "support/catch.hpp"

TEST_CASE("a counter sees the launches since its construction", "[device]") {
  tenon::count_launch("before");
  const tenon::launch_counter outer;
  CHECK(outer.count() == 0);
  tenon::count_launch("pointwise");
  const tenon::launch_counter inner;
  tenon::count_launch("reduce");
  CHECK(outer.count() == 2);
  CHECK(inner.count() == 1);
  CHECK(std::string(inner.last_kind()) == "reduce");
}

TEST_CASE("launches of another thread are not counted", "[device]") {
  const tenon::launch_counter here;
  std::thread([] { tenon::count_launch("elsewhere"); }).join();
  CHECK(here.count() == 0);
}
