// tests/device/launch_clock.cpp: how large a copy is that no cache holds; on a device, its clock.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/launch_clock.hpp>

#include "support/catch.hpp"

TEST_CASE("copies that are timed are twice the last cache, within bounds", "[device]") {
  constexpr std::int64_t megabyte = 1 << 20;
  CHECK(tenon::detail::bytes_beyond_caches(0) == 64 * megabyte);
  CHECK(tenon::detail::bytes_beyond_caches(60 * megabyte) == 120 * megabyte);
  CHECK(tenon::detail::bytes_beyond_caches(4096 * megabyte) == 1024 * megabyte);
}

#if defined(__CUDACC__)
TEST_CASE("a device's clock counts the seconds of its work, and its copies have a rate", "[device]") {
  const auto& clock = tenon::cuda_launch_clock();
  const auto first = clock.mark();
  const double rate = clock.copy_rate();
  const double seconds = clock.seconds(first, clock.mark());
  CHECK(rate > 1e9);
  CHECK(rate < 1e14);
  CHECK(seconds > 2.0 * 64e6 / rate);  // the copies lay between the marks
  CHECK(seconds < 100);
  CHECK(clock.copy_rate() == rate);
}
#endif
