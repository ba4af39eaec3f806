// tests/device/emulated_thread.cpp: the parts of emulated threads.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/emulated_thread.hpp>

#include <algorithm>

#include "support/catch.hpp"

TEST_CASE("a new thread waits for nothing and has nothing under way", "[device]") {
  const tenon::detail::emulated_thread thread;
  CHECK(thread.state == tenon::detail::thread_state::unstarted);
  CHECK(thread.copies.empty());
  CHECK(thread.copy_groups.empty());
  CHECK(thread.shared_used == 0);
}

TEST_CASE("options are the thread's own and record races unless told otherwise", "[device]") {
  CHECK(tenon::detail::thread_emulation().record_races);
}

TEST_CASE("shuffled orders are permutations and differ", "[device]") {
  tenon::detail::shuffler random(7);
  std::vector<int> order(100);
  for (int i = 0; i < 100; ++i) order[static_cast<std::size_t>(i)] = i;
  random.shuffle(order.data(), 100);
  CHECK_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (int i = 0; i < 100; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
  random.shuffle(nullptr, 0);
}
