// tests/device/host_clock.cpp: the host's clock and the rate of its copies.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/host_clock.hpp>
#include <thread>

#include "support/catch.hpp"

TEST_CASE("the host's clock counts seconds", "[device]") {
  const auto& clock = tenon::host_launch_clock();
  const auto first = clock.mark();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto second = clock.mark();
  CHECK(clock.seconds(first, second) >= 0.02);
  CHECK(clock.seconds(first, second) < 10);
  CHECK(clock.seconds(first, first) == 0);
}

TEST_CASE("the host's copies have a rate, which is measured once", "[device]") {
  const auto& clock = tenon::host_launch_clock();
  const double rate = clock.copy_rate();
  CHECK(rate > 1e7);   // bytes a second: no machine is slower, sanitizers included
  CHECK(rate < 1e14);  // none is faster than its caches
  CHECK(clock.copy_rate() == rate);
}
