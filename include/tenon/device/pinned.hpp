// tenon/device/pinned.hpp: page-locked memory of the host, from and to which a device copies by itself.
// Statements take it for ordinary memory; reading it waits for the copies that are under way, and nothing else does.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>

namespace tenon {

struct host;

namespace detail {

/// The functions that lock pages. Files that nvcc compiles bring them; without them, memory is ordinary.
struct page_locking {
  void (*lock)(void* memory, std::size_t bytes) = nullptr;
  void (*unlock)(void* memory) noexcept = nullptr;  ///< once the copies are done
  void (*await)(const void* memory) = nullptr;      ///< returns when they are
};
inline page_locking page_locks;

}  // namespace detail

/// Page-locked memory: `tensor<float, rank<2>, pinned>` is a tensor of the host in every statement, and copies between
/// it and a device return at once. Its elements are waited for when the tensor is read or written; a view that was
/// taken before the copy does not wait. Where no CUDA device is in the program, it is ordinary memory.
/// throws    std::bad_alloc, out_of_memory when pages cannot be locked
struct pinned {
  static constexpr const char* name = "pinned";
  static constexpr bool host_accessible = true;
  static constexpr bool is_page_locked = true;
  static constexpr std::size_t page_bytes = 4096;
  using statement_space = host;

  static void* allocate(std::size_t bytes) {
    const std::size_t whole = whole_pages(bytes);
    void* const memory = ::operator new(whole, std::align_val_t{page_bytes});
    try {
      if (detail::page_locks.lock != nullptr) detail::page_locks.lock(memory, whole);
    } catch (...) {
      ::operator delete(memory, std::align_val_t{page_bytes});
      throw;
    }
    return memory;
  }
  static void deallocate(void* memory, std::size_t) noexcept {
    if (detail::page_locks.unlock != nullptr) detail::page_locks.unlock(memory);
    ::operator delete(memory, std::align_val_t{page_bytes});
  }
  static void copy(void* target, const void* source, std::size_t bytes) {
    if (bytes != 0) __builtin_memmove(target, source, bytes);
  }
  static void copy_from_host(void* target, const void* source, std::size_t bytes) { copy(target, source, bytes); }
  static void copy_to_host(void* target, const void* source, std::size_t bytes) { copy(target, source, bytes); }
  /// Waits for the copies from and to the block at `memory` that are under way.
  static void await(const void* memory) {
    if (detail::page_locks.await != nullptr) detail::page_locks.await(memory);
  }

 private:
  static std::size_t whole_pages(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }
};

}  // namespace tenon
