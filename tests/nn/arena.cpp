// tests/nn/arena.cpp: blocks that are needed together never overlap, and little more memory is taken than that.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/arena.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace nn = tenon::nn;

namespace {

/// A plan of blocks of so many units of 256 bytes, each read by the next statement alone.
tenon::index chain_units(const std::vector<tenon::index>& units) {
  nn::arena_plan plan;
  for (const tenon::index each : units) {
    const int block = plan.add(256 * each);
    if (block != 0) plan.keep(block - 1, block);
  }
  plan.place();
  return plan.bytes() / 256;
}

}  // namespace

TEST_CASE("a chain takes what its two largest neighbours need, or little more", "[arena]") {
  CHECK(chain_units({}) == 0);
  CHECK(chain_units({5}) == 5);
  CHECK(chain_units({1, 2, 3}) == 5);
  CHECK(chain_units({3, 2, 1, 4}) == 6);  // 5 would do
  CHECK(chain_units({8, 2, 8, 4, 1, 6}) == 12);
  CHECK(chain_units({0, 7, 0}) == 7);
}

TEST_CASE("blocks begin at multiples of 256 bytes", "[arena]") {
  nn::arena_plan plan;
  plan.add(1), plan.add(300), plan.add(257);
  plan.keep(0, 2), plan.keep(1, 2);
  plan.place();
  CHECK(plan.bytes() == 256 + 512 + 512);
  for (int block = 0; block < 3; ++block) CHECK(plan.offset(block) % 256 == 0);
}

TEST_CASE("blocks that are needed at one time never overlap", "[arena]") {
  tenon_test::random_source random(5);
  for (int round = 0; round < 200; ++round) {
    nn::arena_plan plan;
    const int count = 1 + static_cast<int>(random.below(12));
    std::vector<tenon::index> bytes;
    std::vector<int> last;
    for (int block = 0; block < count; ++block) {
      bytes.push_back(256 * random.below(9));
      last.push_back(block + static_cast<int>(random.below(5)));
      plan.add(bytes.back());
    }
    for (int block = 0; block < count; ++block) plan.keep(block, last[static_cast<std::size_t>(block)]);
    plan.place();
    tenon::index most = 0, all = 0;
    for (int step = 0; step < count; ++step) {
      tenon::index needed = 0;
      for (int block = 0; block <= step; ++block) {
        const auto own = static_cast<std::size_t>(block);
        if (last[own] < step) continue;
        needed += bytes[own];
        CHECK(plan.offset(block) + bytes[own] <= plan.bytes());
        for (int other = 0; other < block; ++other) {
          const auto before = static_cast<std::size_t>(other);
          if (last[before] < step) continue;
          const bool apart = plan.offset(other) + bytes[before] <= plan.offset(block) ||
                             plan.offset(block) + bytes[own] <= plan.offset(other);
          CHECK((apart || bytes[own] == 0 || bytes[before] == 0));
        }
      }
      most = std::max(most, needed);
      all += bytes[static_cast<std::size_t>(step)];
    }
    CHECK(plan.bytes() >= most);
    CHECK(plan.bytes() <= all);
    CHECK(plan.bytes() <= 2 * most);
  }
}
