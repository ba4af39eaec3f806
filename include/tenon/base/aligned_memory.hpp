// tenon/base/aligned_memory.hpp: memory of the heap that begins at a cache line, and what AddressSanitizer hears of it.
// glibc's aligned operator new takes four times as long, and grows the heap by the first large blocks again and again.
// Floor 0: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <tenon/base/config.hpp>

extern "C" void __asan_poison_memory_region(const volatile void* memory, std::size_t bytes);
extern "C" void __asan_unpoison_memory_region(const volatile void* memory, std::size_t bytes);

namespace tenon::detail {

#if defined(__has_feature)
inline constexpr bool address_sanitized = __has_feature(address_sanitizer);
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr bool address_sanitized = true;
#else
inline constexpr bool address_sanitized = false;
#endif

/// Nobody may access this memory until it is allowed again.
inline void forbid_access([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes) {
  if constexpr (address_sanitized) __asan_poison_memory_region(memory, bytes);
}
inline void allow_access([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes) {
  if constexpr (address_sanitized) __asan_unpoison_memory_region(memory, bytes);
}

/// `bytes` that begin at a multiple of `Alignment`, a power of two of at least 16. The address of the block that the
/// heap gave stands before them.
/// throws    std::bad_alloc
template <std::size_t Alignment>
void* allocate_aligned(std::size_t bytes) {
  if (bytes > PTRDIFF_MAX - Alignment) throw std::bad_alloc();
  char* const block = static_cast<char*>(::operator new(bytes + Alignment));
  char* const memory = block + Alignment - reinterpret_cast<std::uintptr_t>(block) % Alignment;
  std::memcpy(memory - sizeof(block), &block, sizeof(block));
  forbid_access(block, static_cast<std::size_t>(memory - block));
  forbid_access(memory + bytes, static_cast<std::size_t>(block + Alignment - memory));
  return memory;
}
inline void free_aligned(void* memory) noexcept {
  if (memory == nullptr) return;
  void* block = nullptr;
  const char* const place = static_cast<const char*>(memory) - sizeof(block);
  allow_access(place, sizeof(block));
  std::memcpy(&block, place, sizeof(block));
  ::operator delete(block);
}

}  // namespace tenon::detail
