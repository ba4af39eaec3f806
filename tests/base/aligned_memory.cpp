// tests/base/aligned_memory.cpp: blocks begin where they should, and what lies beside them is nobody's.
// AddressSanitizer is asked, where it is on, of which bytes it would complain.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/aligned_memory.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"

extern "C" int __asan_address_is_poisoned(const volatile void* address);

using tenon::detail::address_sanitized;
using tenon::detail::allocate_aligned;
using tenon::detail::free_aligned;

namespace {

/// Whether a byte may be read; true where nobody knows.
bool is_allowed([[maybe_unused]] const char* place) {
  if constexpr (address_sanitized) return __asan_address_is_poisoned(place) == 0;
  else return true;
}

template <std::size_t Alignment>
void check_blocks() {
  std::vector<char*> blocks;
  for (std::size_t bytes = 0; bytes < 200; bytes += 3) {
    blocks.push_back(static_cast<char*>(allocate_aligned<Alignment>(bytes)));
    char* const memory = blocks.back();
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % Alignment == 0);
    std::memset(memory, static_cast<int>(bytes), bytes);
    CHECK((bytes == 0 || is_allowed(memory + bytes - 1)));
    CHECK(is_allowed(memory + bytes) == !address_sanitized);
    CHECK(is_allowed(memory - 1) == !address_sanitized);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto is_kept = [&](char each) { return each == static_cast<char>(3 * i); };
    CHECK(std::all_of(blocks[i], blocks[i] + 3 * i, is_kept));
    free_aligned(blocks[i]);
  }
}

}  // namespace

TEST_CASE("blocks begin at a multiple of what is asked for, and keep apart", "[aligned_memory]") {
  check_blocks<16>();
  check_blocks<64>();
  check_blocks<256>();
  free_aligned(nullptr);
}

TEST_CASE("more than there can be is refused", "[aligned_memory]") {
  CHECK_THROWS_AS(allocate_aligned<64>(SIZE_MAX), std::bad_alloc);
  CHECK_THROWS_AS(allocate_aligned<64>(PTRDIFF_MAX - 10), std::bad_alloc);
}
