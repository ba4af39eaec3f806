// tests/support/counted_allocation.hpp: how much memory for elements and workspaces of the host a program asks for.
// It replaces the allocation of memory, so at most one file of an executable includes it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TENON_TEST_COUNTS_NOTHING  // ThreadSanitizer has an allocation of its own, which nothing may replace
#endif
#endif

#if !defined(__CUDACC__)
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace tenon_test {

/// Smaller blocks are not counted: a test that makes texts and lists of its own may say so.
inline std::atomic<std::size_t> counted_size{0};
inline std::atomic<std::size_t> blocks_allocated{0}, bytes_allocated{0};

}  // namespace tenon_test

#if !defined(TENON_TEST_COUNTS_NOTHING)
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (bytes >= tenon_test::counted_size) ++tenon_test::blocks_allocated, tenon_test::bytes_allocated += bytes;
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* const memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes) { return operator new(bytes, std::align_val_t{alignof(std::max_align_t)}); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif
#endif
