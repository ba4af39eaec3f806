// tenon/base/owned_array.hpp: objects of the heap that have one owner.
// std::unique_ptr would do, but with <memory> the include of <tenon/expressions.hpp> takes a fifth longer.
// Floor 0: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

namespace tenon::detail {

/// `count` objects, made by their default constructor: numbers have no values yet. None where it was made without a
/// count, or was moved from.
/// throws    std::bad_alloc, and what the constructor throws
template <class T>
class owned_array {
 public:
  owned_array() = default;
  explicit owned_array(std::size_t count) : first_(new T[count]) {}
  owned_array(owned_array&& other) noexcept : first_(std::exchange(other.first_, nullptr)) {}
  owned_array& operator=(owned_array&& other) noexcept {
    std::swap(first_, other.first_);
    return *this;
  }
  ~owned_array() { delete[] first_; }

  /// The first object; null where there are none.
  T* data() const { return first_; }
  T& operator[](std::size_t number) const { return first_[number]; }

 private:
  T* first_ = nullptr;
};

}  // namespace tenon::detail
