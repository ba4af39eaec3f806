// tenon/base/list.hpp: plain values in a row that grows.
// One function moves the rows of all types: a std::vector of one more type is forty functions more to compile.
// Floor 0: includes nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace tenon::detail {

/// The memory of a list, counted in bytes.
class list_memory {
 public:
  list_memory() = default;
  list_memory(list_memory&& other) noexcept { swap(other); }
  list_memory& operator=(list_memory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~list_memory() { ::operator delete(first); }

  /// Makes room for so many bytes, twice what there was at least.
  /// throws    bad_alloc, and leaves everything as it is
  [[gnu::noinline]] void reserve(std::size_t wanted) {
    if (wanted <= capacity) return;
    const std::size_t room = wanted < 2 * capacity ? 2 * capacity : wanted;
    void* const larger = ::operator new(room);
    if (size != 0) std::memcpy(larger, first, size);
    ::operator delete(std::exchange(first, larger));
    capacity = room;
  }

  void* first = nullptr;
  std::size_t size = 0, capacity = 0;

 private:
  void swap(list_memory& other) noexcept {
    std::swap(first, other.first);
    std::swap(size, other.size);
    std::swap(capacity, other.capacity);
  }
};

/// Values that are copied as bytes, in a row; what `std::vector` has under these names is the same here.
template <class T>
class list {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

 public:
  T* data() { return static_cast<T*>(memory_.first); }
  const T* data() const { return static_cast<const T*>(memory_.first); }
  std::size_t size() const { return memory_.size / sizeof(T); }
  std::size_t capacity() const { return memory_.capacity / sizeof(T); }
  bool empty() const { return memory_.size == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  T& operator[](std::size_t number) { return data()[number]; }
  const T& operator[](std::size_t number) const { return data()[number]; }
  T& back() { return end()[-1]; }

  void reserve(std::size_t count) { memory_.reserve(count * sizeof(T)); }
  void push_back(T value) {
    const std::size_t size = memory_.size + sizeof(T);
    if (size > memory_.capacity) memory_.reserve(size);
    ::new (static_cast<void*>(end())) T(value);
    memory_.size = size;
  }
  void pop_back() { memory_.size -= sizeof(T); }
  /// Forgets what lies behind the first `count`, of no more values than there are.
  void truncate(std::size_t count) { memory_.size = count * sizeof(T); }
  void clear() { truncate(0); }

 private:
  list_memory memory_;
};

}  // namespace tenon::detail
