// tests/core/dead_storage.cpp: freed blocks that are kept from use.
// The class itself; what tensors and statements make of it in a checked build is tests/checked/.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/dead_storage.hpp>
#include <vector>

#include "support/catch.hpp"

namespace {

std::vector<void*> given_back;
alignas(64) unsigned char memory[1000];

void note(void* block, std::size_t) noexcept { given_back.push_back(block); }

bool hold(const tenon::freed_blocks& blocks, int begin, int end) {
  const auto origin = reinterpret_cast<std::uintptr_t>(memory);
  return blocks.hold({origin + static_cast<std::uintptr_t>(begin), origin + static_cast<std::uintptr_t>(end)});
}

}  // namespace

TEST_CASE("kept blocks are known by any of their bytes", "[dead_storage]") {
  tenon::freed_blocks blocks;
  CHECK(!hold(blocks, 0, 1000));
  blocks.keep(memory + 100, 50, note);
  blocks.keep(memory + 300, 10, note);
  blocks.keep(memory + 200, 50, note);
  CHECK(hold(blocks, 100, 101));
  CHECK(hold(blocks, 149, 160));
  CHECK(hold(blocks, 0, 1000));
  CHECK(hold(blocks, 240, 305));
  CHECK(!hold(blocks, 0, 100));
  CHECK(!hold(blocks, 150, 200));
  CHECK(!hold(blocks, 310, 400));
  CHECK(!hold(blocks, 120, 120));
}

TEST_CASE("the oldest blocks are given back when there are too many bytes", "[dead_storage]") {
  given_back.clear();
  {
    tenon::freed_blocks blocks;
    constexpr std::size_t quarter = tenon::freed_blocks::most_bytes / 4;
    for (int i = 0; i < 4; ++i) blocks.keep(memory + i, i == 0 ? 1 : quarter, note);
    CHECK(given_back.empty());
    blocks.keep(memory + 4, quarter, note);
    CHECK(given_back == std::vector<void*>{memory});
    blocks.keep(memory + 5, 5 * quarter, note);
    CHECK(given_back == std::vector<void*>{memory, memory + 1, memory + 2, memory + 3, memory + 4, memory + 5});
    blocks.keep(memory + 6, quarter, note);
  }
  CHECK(given_back.back() == memory + 6);
}
