// tests/support/failing_allocation.hpp: memory that runs out when a test says so.
// It replaces the allocation of memory, so at most one file of an executable includes it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace tenon_test {

/// Blocks of this size and larger are counted.
inline constexpr std::size_t counted_size = 256;
/// How many counted blocks the calling thread still gets before one fails; none fails where it is negative.
inline thread_local std::int64_t blocks_left = -1;

inline void* counted_block(std::size_t size, std::size_t alignment) {
  if (size >= counted_size && blocks_left >= 0 && blocks_left-- == 0) throw std::bad_alloc();
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  if (void* const memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded)) return memory;
  throw std::bad_alloc();
}

}  // namespace tenon_test

void* operator new(std::size_t size) { return tenon_test::counted_block(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return tenon_test::counted_block(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
