// tests/device/joined_threads.cpp: threads that are waited for.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/joined_threads.hpp>

#include <atomic>

#include "support/catch.hpp"

TEST_CASE("threads have ended when their owner goes", "[joined_threads]") {
  std::atomic<int> ended = 0;
  {
    tenon::detail::joined_threads threads;
    CHECK(threads.empty());
    for (int number = 1; number <= 3; ++number) threads.start([&ended, number] { ended += number; });
    CHECK(threads.size() == 3);
  }
  CHECK(ended == 6);
}

TEST_CASE("after a join there is room for other threads", "[joined_threads]") {
  std::atomic<int> ended = 0;
  tenon::detail::joined_threads threads;
  for (int round = 1; round <= 2; ++round) {
    threads.start([&ended] { ++ended; });
    threads.join();
    CHECK(threads.empty());
    CHECK(ended == round);
  }
}
