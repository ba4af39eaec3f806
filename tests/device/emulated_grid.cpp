// tests/device/emulated_grid.cpp: the blocks of emulated grids, one after another or alive together.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/emulated_grid.hpp>

#include <algorithm>
#include <set>

#include "spaces.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test;

/// Notes the order in which blocks come past, before and after a barrier of the grid.
struct meeting_kernel {
  static constexpr const char* name = "meeting";
  static constexpr bool is_cooperative = true;
  std::vector<int>* order;
  int returns = -1, throws = -1, syncs_alone = -1;

  template <class Device>
  void operator()(Device& device) const {
    note(device);
    if (device.block().x == returns) return;
    if (device.block().x == throws && device.thread() == 7) throw std::runtime_error("thrown by block");
    if (device.block().x == syncs_alone && device.thread() == 3) device.sync();
    device.sync_grid(nullptr);
    note(device);
  }

 private:
  template <class Device>
  void note(Device& device) const {
    const tenon::detail::unobserved quiet;
    if (device.thread() == 0) order->push_back(device.block().x);
  }
};

struct solitary_kernel {
  static constexpr const char* name = "solitary";

  template <class Device>
  void operator()(Device& device) const {
    device.sync_grid(nullptr);
  }
};

std::vector<int> order_of(std::uint64_t seed, meeting_kernel kernel = {nullptr}) {
  const tenon::emulation_scope scope({.seed = seed});
  std::vector<int> order;
  kernel.order = &order;
  tenon::launch<tenon::emulated>({.grid = {5}, .block = 32}, kernel);
  return order;
}

}  // namespace

TEST_CASE("no block passes the barrier of the grid early, whatever the order", "[device]") {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    auto order = order_of(seed);
    REQUIRE(order.size() == 10);
    orders.insert(order);
    std::sort(order.begin(), order.begin() + 5);
    CHECK(std::equal(order.begin(), order.begin() + 5, std::vector<int>{0, 1, 2, 3, 4}.begin()));
  }
  CHECK(orders.size() >= 7);
  CHECK(order_of(1) == order_of(1));
}

TEST_CASE("blocks that do not meet are an error that says who waits where", "[device]") {
  for (int i = 0; i < 20; ++i) {
    const std::string returned = text_thrown<tenon::barrier_error>(
        [&] { order_of(static_cast<std::uint64_t>(i), {.order = nullptr, .returns = 2}); });
    CHECK(contains(returned, "emulated meeting: sync_grid: 4 of 5 blocks wait at "));
    CHECK(contains(returned, "emulated_grid.cpp:"));
    CHECK(contains(returned, "block 2 has returned"));
  }
  const auto alone = text_thrown<tenon::barrier_error>([&] { order_of(1, {.order = nullptr, .syncs_alone = 1}); });
  CHECK(contains(alone, "expected all at one place"));
}

TEST_CASE("an exception of one block ends the others", "[device]") {
  for (int i = 0; i < 20; ++i) {
    CHECK(text_thrown<std::runtime_error>([&] { order_of(1, {.order = nullptr, .throws = 3}); }) == "thrown by block");
  }
  CHECK(order_of(1).size() == 10);
}

TEST_CASE("only cooperative kernels wait for their grid, and only as many blocks as are resident", "[device]") {
  CHECK(contains(text_thrown<tenon::barrier_error>(
                     [] { tenon::launch<tenon::emulated>({.grid = {2}, .block = 32}, solitary_kernel{}); }),
                 "expected is_cooperative"));
  std::vector<int> order;
  CHECK(contains(text_thrown<tenon::shape_error>(
                     [&] { tenon::launch<tenon::emulated>({.grid = {7}, .block = 32}, meeting_kernel{&order}); }),
                 "launch: meeting: 7 blocks that wait for each other, expected at most 6"));
}
