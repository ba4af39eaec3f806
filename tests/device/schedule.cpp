// tests/device/schedule.cpp: the order of emulated threads, deadlocks and exceptions.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/schedule.hpp>

#include <algorithm>
#include <set>

#include "spaces.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test;

/// Notes in which order threads come past, before and after a barrier.
struct order_kernel {
  std::vector<int>* before;
  std::vector<int>* after;
  std::vector<int>* blocks;

  template <class Device>
  void operator()(Device& device) const {
    const tenon::detail::unobserved quiet;
    if (device.thread() == 0) blocks->push_back(device.block().x);
    before->push_back(device.thread());
    device.sync();
    after->push_back(device.thread());
  }
};

struct observed_order {
  std::vector<int> before, after, blocks;
  bool operator==(const observed_order&) const = default;
};

observed_order observe(std::uint64_t seed) {
  const tenon::emulation_scope scope({.seed = seed});
  observed_order seen;
  tenon::launch<tenon::emulated>({.grid = {13}, .block = 64}, order_kernel{&seen.before, &seen.after, &seen.blocks});
  return seen;
}

enum class trouble { none, returns, other_line, warp_against_block, lane_returns, other_operation };

struct troubled_kernel {
  static constexpr const char* name = "troubled";
  trouble kind;
  int* out;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const bool odd_one = device.thread() == 5;
    if (kind == trouble::returns && odd_one) return;
    if (kind == trouble::lane_returns && odd_one) return;
    if (kind == trouble::other_line && odd_one) device.sync();
    if (kind == trouble::warp_against_block && odd_one) device.sync_warp();
    if (kind == trouble::other_operation && odd_one) device.ballot(true);
    if (kind == trouble::lane_returns || kind == trouble::other_operation) device.sync_warp();
    device.sync();
    out[device.thread()] = 1;
  }
};

std::string trouble_text(trouble kind, int block = 64) {
  std::vector<int> out(64);
  return text_thrown<tenon::barrier_error>(
      [&] { tenon::launch<tenon::emulated>({.block = block, .shared_bytes = 0}, troubled_kernel{kind, out.data()}); });
}

/// Counts the objects alive on the stacks of fibers.
struct live_object {
  int* count;
  std::vector<int> memory;

  explicit live_object(int* alive) : count(alive), memory(100) { ++*count; }
  live_object(const live_object&) = delete;
  live_object& operator=(const live_object&) = delete;
  ~live_object() { --*count; }
};

struct throwing_kernel {
  int* alive;
  int thrower;

  template <class Device>
  void operator()(Device& device) const {
    const tenon::detail::unobserved quiet;
    const live_object object(alive);
    device.sync();
    if (device.thread() == thrower) throw std::runtime_error("thrown by thread " + std::to_string(thrower));
    device.sync();
  }
};

}  // namespace

TEST_CASE("threads and blocks come in an order that the seed decides", "[device]") {
  const observed_order first = observe(1);
  CHECK(first == observe(1));
  std::set<std::vector<int>> befores, afters, blocks;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const observed_order seen = observe(seed);
    befores.insert(seen.before);
    afters.insert(seen.after);
    blocks.insert(seen.blocks);
  }
  CHECK(befores.size() == 8);
  CHECK(afters.size() == 8);
  CHECK(blocks.size() >= 6);
}

TEST_CASE("every thread and block comes once, and none passes a barrier early", "[device]") {
  observed_order seen = observe(3);
  std::vector<int> threads(seen.before.begin(), seen.before.begin() + 64);
  CHECK_FALSE(std::is_sorted(threads.begin(), threads.end()));
  std::sort(threads.begin(), threads.end());
  for (int i = 0; i < 64; ++i) CHECK(threads[static_cast<std::size_t>(i)] == i);
  std::sort(seen.blocks.begin(), seen.blocks.end());
  for (int i = 0; i < 13; ++i) CHECK(seen.blocks[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("threads that do not meet are an error that says who waits where", "[device]") {
  CHECK(trouble_text(trouble::none).empty());
  const std::string returned = trouble_text(trouble::returns);
  CHECK(contains(returned, "emulated troubled: sync: 63 of 64 threads wait at "));
  CHECK(contains(returned, "schedule.cpp:"));
  CHECK(contains(returned, "thread 5 has returned"));
  CHECK(contains(trouble_text(trouble::other_line), "expected all at one place"));
  CHECK(contains(trouble_text(trouble::warp_against_block), "sync_warp"));
  CHECK(contains(trouble_text(trouble::lane_returns), "has returned"));
  CHECK(contains(trouble_text(trouble::other_operation), "ballot"));
  CHECK(contains(trouble_text(trouble::lane_returns, 40), "expected whole warps"));
}

TEST_CASE("an exception reaches the launching thread and leaves nothing behind", "[device]") {
  int alive = 0;
  for (const int thrower : {0, 17, 63}) {
    const std::string text = text_thrown<std::runtime_error>(
        [&] { tenon::launch<tenon::emulated>({.grid = {2}, .block = 64}, throwing_kernel{&alive, thrower}); });
    CHECK(text == "thrown by thread " + std::to_string(thrower));
    CHECK(alive == 0);
  }
  CHECK(trouble_text(trouble::none).empty());  // the next launch is a fresh one
}

TEST_CASE("a deadlock leaves nothing behind", "[device]") {
  for (int i = 0; i < 50; ++i) CHECK_FALSE(trouble_text(trouble::returns).empty());
}
