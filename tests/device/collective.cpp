// tests/device/collective.cpp: reductions, scans and broadcasts of warps and blocks.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/collective.hpp>

#include "spaces.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test;

/// x -> scale * x + shift; composition is associative and does not commute.
struct affine {
  std::int64_t scale, shift;
  TENON_HOST_DEVICE bool operator==(const affine& other) const { return scale == other.scale && shift == other.shift; }
};

struct compose {
  TENON_HOST_DEVICE affine operator()(const affine& first, const affine& then) const {
    const std::int64_t prime = 1000003;
    return {first.scale * then.scale % prime, (first.shift * then.scale + then.shift) % prime};
  }
};

TENON_HOST_DEVICE affine map_of(int thread) { return {2 * thread + 3, thread * thread + 1}; }

struct add {
  TENON_HOST_DEVICE float operator()(float left, float right) const { return left + right; }
};

struct reduce_kernel {
  affine* warp_results;
  affine* block_results;
  float* sums;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const int thread = device.thread();
    warp_results[thread] = tenon::warp_reduce(device, map_of(thread), compose{});
    const auto scratch = device.template shared<affine>(tenon::warp_size);
    block_results[thread] = tenon::block_reduce(device, scratch, map_of(thread), compose{});
    float sum = 0;
    for (int i = 0; i < 3; ++i) {  // scratch of its own, taken again and again
      sum += tenon::block_reduce(device, 1.0f / static_cast<float>(thread + i + 1), add{});
    }
    sums[thread] = sum;
  }
};

struct team_kernel {
  int threads;  // of a team
  affine* results;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    results[device.thread()] = tenon::team_reduce(device, map_of(device.thread()), compose{}, threads);
  }
};

struct scan_kernel {
  affine* inclusive;
  affine* totals;
  int* sent;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const int thread = device.thread();
    const auto scan = tenon::block_scan(device, map_of(thread), compose{});
    inclusive[thread] = scan.inclusive;
    totals[thread] = scan.total;
    const auto scratch = device.template shared<int>(1);
    sent[thread] = tenon::block_broadcast(device, scratch, 10 * thread, 29);
  }
};

affine composed(int first, int end) {
  affine result = map_of(first);
  for (int i = first + 1; i < end; ++i) result = compose{}(result, map_of(i));
  return result;
}

}  // namespace

TEST_CASE("reductions combine in the order of the threads and reach all of them", "[device]") {
  on_each_space([](auto space) {
    using Space = decltype(space);
    for (const int block : {32, 64, 96, 256}) {
      const auto count = static_cast<std::size_t>(block);
      const device_copy<Space, affine> warps(std::vector<affine>(count, affine{})),
          blocks(std::vector<affine>(count, affine{}));
      const device_copy<Space, float> sums{std::vector<float>(count)};
      tenon::launch<Space>({.block = block, .shared_bytes = 2 * tenon::block_reduce_bytes},
                           reduce_kernel{warps.data(), blocks.data(), sums.data()});
      const auto seen_warps = warps.values(), seen_blocks = blocks.values();
      const auto seen_sums = sums.values();
      double expected = 0;
      for (int i = 0; i < 3; ++i) {
        for (int thread = 0; thread < block; ++thread) expected += 1.0 / (thread + i + 1);
      }
      for (int thread = 0; thread < block; ++thread) {
        const auto at = static_cast<std::size_t>(thread);
        const int first = thread / 32 * 32;
        REQUIRE(seen_warps[at] == composed(first, first + 32));
        REQUIRE(seen_blocks[at] == composed(0, block));
        REQUIRE(seen_sums[at] == seen_sums[0]);
      }
      CHECK(std::abs(seen_sums[0] - expected) < 1e-5 * expected);
    }
  });
}

TEST_CASE("teams of lanes and of warps combine their own values in order", "[device]") {
  on_each_space([](auto space) {
    using Space = decltype(space);
    for (const int threads : {1, 2, 4, 8, 16, 32, 64, 128, 256}) {
      const device_copy<Space, affine> results(std::vector<affine>(256, affine{}));
      tenon::launch<Space>({.block = 256, .shared_bytes = tenon::block_reduce_bytes},
                           team_kernel{threads, results.data()});
      const auto seen = results.values();
      CAPTURE(threads);
      for (int thread = 0; thread < 256; ++thread) {
        const int first = thread / threads * threads;
        REQUIRE(seen[static_cast<std::size_t>(thread)] == composed(first, first + threads));
      }
    }
  });
}

TEST_CASE("a reduction does not depend on the order in which threads run", "[device]") {
  std::vector<float> first;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const tenon::emulation_scope scope({.seed = seed});
    std::vector<affine> warps(256), blocks(256);
    std::vector<float> sums(256);
    tenon::launch<tenon::emulated>({.block = 256, .shared_bytes = 2 * tenon::block_reduce_bytes},
                                   reduce_kernel{warps.data(), blocks.data(), sums.data()});
    if (first.empty()) first = sums;
    CHECK(sums == first);
  }
}

TEST_CASE("scans hold the lower threads, broadcasts the sender", "[device]") {
  on_each_space([](auto space) {
    using Space = decltype(space);
    for (const int block : {32, 96, 256}) {
      const auto count = static_cast<std::size_t>(block);
      const device_copy<Space, affine> inclusive(std::vector<affine>(count, affine{})),
          totals(std::vector<affine>(count, affine{}));
      const device_copy<Space, int> sent{std::vector<int>(count)};
      tenon::launch<Space>({.block = block, .shared_bytes = tenon::block_reduce_bytes},
                           scan_kernel{inclusive.data(), totals.data(), sent.data()});
      const auto seen = inclusive.values(), seen_totals = totals.values();
      for (int thread = 0; thread < block; ++thread) {
        const auto at = static_cast<std::size_t>(thread);
        REQUIRE(seen[at] == composed(0, thread + 1));
        REQUIRE(seen_totals[at] == composed(0, block));
        REQUIRE(sent.values()[at] == 290);
      }
    }
  });
}
