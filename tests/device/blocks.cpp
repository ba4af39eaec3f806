// tests/device/blocks.cpp: the books of a space's memory.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/blocks.hpp>

#include <vector>

#include "support/catch.hpp"

namespace {

struct books {};  // a space of which only the books are kept

using tenon::stream_id;
int streams[3];
const stream_id home{nullptr, 1}, first{&streams[0], 1}, second{&streams[1], 1};

}  // namespace

TEST_CASE("an address belongs to the block in which it lies", "[device]") {
  alignas(64) static char memory[300];
  tenon::memory_blocks blocks;
  blocks.add(memory + 100, 50, home);
  blocks.add(memory + 150, 50, {nullptr, 2});
  CHECK(blocks.device_of(memory + 99, 7) == 7);
  CHECK(blocks.device_of(memory + 100, 7) == 1);
  CHECK(blocks.device_of(memory + 149, 7) == 1);
  CHECK(blocks.device_of(memory + 150, 7) == 2);
  CHECK(blocks.device_of(memory + 200, 7) == 7);
  CHECK(blocks.bytes_at(memory + 150) == 50);
  CHECK(blocks.bytes_at(memory + 151) == 0);
  CHECK(blocks.count() == 2);
  CHECK(blocks.take(memory + 100).home == home);
  CHECK(blocks.device_of(memory + 149, 7) == 7);
  CHECK(blocks.take(memory + 100).bytes == 0);
  CHECK(blocks.count() == 1);
  CHECK(blocks.added() == 2);
}

TEST_CASE("a block knows each other stream that has used it, once", "[device]") {
  static char memory[100];
  tenon::memory_blocks blocks;
  blocks.add(memory, 100, home);
  blocks.note_use(memory + 99, home);
  blocks.note_use(memory + 99, first);
  blocks.note_use(memory, second);
  blocks.note_use(memory, first);
  blocks.note_use(memory + 100, second);  // nobody's
  const tenon::memory_block block = blocks.take(memory);
  CHECK(std::vector(block.users.begin(), block.users.end()) == std::vector{first, second});
}

TEST_CASE("default streams of two devices are two", "[device]") {
  CHECK_FALSE(stream_id{nullptr, 0} == stream_id{nullptr, 1});
}

TEST_CASE("a space has one book for the process", "[device]") {
  CHECK(&tenon::blocks_of<books>() == &tenon::blocks_of<books>());
}
