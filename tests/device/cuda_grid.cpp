// tests/device/cuda_grid.cpp: the barrier of a grid, on every space.
// Each block reads what others wrote before the barrier, round after round, in launches of several sizes.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/cuda_grid.hpp>

#include "spaces.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test;

/// Every block passes its number round the grid: after `rounds` rounds each has the sum of as many neighbours.
struct ring_kernel {
  static constexpr const char* name = "ring";
  static constexpr bool is_cooperative = true;
  unsigned* barrier;
  int* places;  // two of each block
  int* sums;
  int rounds;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const int own = device.block().x, blocks = device.grid_size().x;
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
      int* const written = places + round % 2 * blocks;
      if (device.thread() == 33)
        written[own] = round == 0 ? own : places[(round + 1) % 2 * blocks + (own + 1) % blocks];
      device.sync_grid(barrier);
      sum += written[(own + 1) % blocks];
    }
    if (device.thread() == 40) sums[own] = sum;
  }
};

}  // namespace

TEST_CASE("blocks see what others wrote before the barrier", "[device]") {
  on_each_space([](auto space) {
    using used = decltype(space);
    const device_copy<used, unsigned> barrier({0u});
    for (const int blocks : {1, 2, 5, 6}) {
      for (const int rounds : {1, 2, 7}) {
        const device_copy<used, int> places(std::vector<int>(2 * 6)), sums(std::vector<int>(6, -1));
        REQUIRE(tenon::cooperative_blocks<used, ring_kernel>(64, 0) >= blocks);
        tenon::launch<used>({.grid = {blocks}, .block = 64},
                            ring_kernel{barrier.data(), places.data(), sums.data(), rounds});
        const auto found = sums.values();
        for (int own = 0; own < blocks; ++own) {
          int expected = 0;
          for (int round = 1; round <= rounds; ++round) expected += (own + round) % blocks;
          CAPTURE(blocks, rounds, own);
          CHECK(found[static_cast<std::size_t>(own)] == expected);
        }
      }
    }
  });
}
