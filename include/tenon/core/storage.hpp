// tenon/core/storage.hpp: an owning block of elements in a memory space.
// Elements are trivially copyable, so a block is bytes. A new block is uninitialised.
// Floor 1: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <tenon/base/array.hpp>
#include <tenon/core/space.hpp>
#include <type_traits>
#include <utility>
#if TENON_CHECKED != 0
#include <tenon/core/dead_storage.hpp>
#endif
#if TENON_FILL != 0
#include <tenon/base/unwritten.hpp>
#endif

namespace tenon {

namespace detail {

/// How a space frees a block.
using free_block = void (*)(void*, std::size_t) noexcept;
/// Takes a block whose tensor is gone where something still reads it; none until values are traced.
inline bool (*keep_block)(void*, std::size_t, free_block) = nullptr;

}  // namespace detail

/// `count` elements of `T` in `Space`, released at the end of its life; copies are deep.
/// throws    shape_error when the bytes cannot be counted, std::bad_alloc (or the space's error) when there are too few
template <class T, memory_space Space>
class storage {
  static_assert(std::is_trivially_copyable_v<T>, "tenon: elements must be trivially copyable");

 public:
  storage() = default;
  explicit storage(index count) : data_(allocate(count)), count_(count) {}
  storage(const storage& other) : storage(other.count_) { Space::copy(data_, other.data_, bytes()); }
  storage(storage&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  storage& operator=(const storage& other) {
    if (this == &other) return *this;
    if (count_ != other.count_) return *this = storage(other);
    Space::copy(data_, other.data_, bytes());
    return *this;
  }
  storage& operator=(storage&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~storage() {
    if (data_ != nullptr) release(data_, bytes());
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  index count() const { return count_; }
  std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(T); }

 private:
  static T* allocate(index count) {
    if (count < 0 || count > std::numeric_limits<index>::max() / static_cast<index>(sizeof(T))) {
      throw shape_error(compose_text("storage: ", count, " elements of ", sizeof(T), " bytes cannot be addressed"));
    }
    if (count == 0) return nullptr;
    const auto bytes = static_cast<std::size_t>(count) * sizeof(T);
    void* const memory = Space::allocate(bytes);
#if TENON_FILL != 0
    if constexpr (Space::host_accessible) fill_unwritten<T>(memory, bytes);
#endif
    return static_cast<T*>(memory);
  }

  /// Whether a graph is recorded, which keeps blocks for longer.
  static bool is_capturing() {
    if constexpr (requires { Space::is_capturing(); }) return Space::is_capturing();
    else return false;
  }
  static void deallocate(void* memory, std::size_t bytes) noexcept { Space::deallocate(memory, bytes); }
  static void release(void* memory, std::size_t bytes) {
    const auto keep = __atomic_load_n(&detail::keep_block, __ATOMIC_ACQUIRE);
    if (keep != nullptr && !is_capturing() && keep(memory, bytes, deallocate)) return;
#if TENON_CHECKED != 0
    if constexpr (Space::host_accessible) {
      if (!is_capturing()) return freed_blocks::of_process().keep(memory, bytes, deallocate);
    }
#endif
    deallocate(memory, bytes);
  }

  T* data_ = nullptr;
  index count_ = 0;
};

}  // namespace tenon
