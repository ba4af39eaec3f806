// tests/support/guarded.hpp: memory whose neighbours cannot be touched.
// Reading or writing past its end ends the program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace tenon_test {

/// `count` elements that end where a page without rights begins.
template <class T>
class guarded {
 public:
  explicit guarded(std::size_t count) {
    void* const pages = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || count * sizeof(T) > page) throw std::bad_alloc();
    pages_ = static_cast<std::byte*>(pages);
    if (mprotect(pages_ + page, page, PROT_NONE) != 0) throw std::bad_alloc();
    data_ = reinterpret_cast<T*>(pages_ + page - count * sizeof(T));
  }
  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;
  ~guarded() { munmap(pages_, 2 * page); }

  T* data() const { return data_; }

 private:
  static constexpr std::size_t page = 65536;
  std::byte* pages_;
  T* data_;
};

}  // namespace tenon_test
