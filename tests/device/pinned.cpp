// tests/device/pinned.cpp: page-locked memory.
// What CUDA would do is noted by a stand-in; nvcc's build asks CUDA itself.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/pinned.hpp>

#include <cstdint>
#include <stdexcept>

#include "support/catch.hpp"

namespace {

struct calls {
  const void* locked = nullptr;
  const void* unlocked = nullptr;
  const void* awaited = nullptr;
  std::size_t bytes = 0;
};
calls seen;

void note_lock(void* memory, std::size_t bytes) { seen.locked = memory, seen.bytes = bytes; }
void note_unlock(void* memory) noexcept { seen.unlocked = memory; }
void note_wait(const void* memory) { seen.awaited = memory; }
void refuse(void*, std::size_t) { throw std::runtime_error("no"); }

}  // namespace

TEST_CASE("pages are whole, locked while they live, and waited for", "[device]") {
  const auto outer = tenon::detail::page_locks;
  tenon::detail::page_locks = {note_lock, note_unlock, note_wait};
  void* const memory = tenon::pinned::allocate(5000);
  CHECK(reinterpret_cast<std::uintptr_t>(memory) % tenon::pinned::page_bytes == 0);
  CHECK(seen.locked == memory);
  CHECK(seen.bytes == 2 * tenon::pinned::page_bytes);
  tenon::pinned::await(memory);
  CHECK(seen.awaited == memory);
  tenon::pinned::deallocate(memory, 5000);
  CHECK(seen.unlocked == memory);
  tenon::detail::page_locks.lock = refuse;
  CHECK_THROWS_AS(tenon::pinned::allocate(1), std::runtime_error);
  tenon::detail::page_locks = outer;
}

TEST_CASE("without CUDA pinned memory is the host's", "[device]") {
  int values[2] = {1, 2}, back[2] = {0, 0};
  void* const memory = tenon::pinned::allocate(sizeof(values));
  tenon::pinned::copy_from_host(memory, values, sizeof(values));
  tenon::pinned::copy_to_host(back, memory, sizeof(values));
  tenon::pinned::copy(memory, nullptr, 0);
  tenon::pinned::await(memory);
  CHECK(back[1] == 2);
  tenon::pinned::deallocate(memory, sizeof(values));
}
