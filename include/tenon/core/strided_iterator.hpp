// tenon/core/strided_iterator.hpp: goes along one axis of a view.
// A random access iterator: loops over `x[0]`, and algorithms of the standard library take it.
// Floor 1: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <tenon/core/extents.hpp>
#include <type_traits>

namespace tenon::detail {

/// An element, and the step to the next one. The place is counted, so that ends lie apart where the step is 0.
template <class T>
class strided_iterator {
 public:
  using value_type = std::remove_const_t<T>;
  using difference_type = index;

  constexpr strided_iterator() = default;
  constexpr strided_iterator(T* first, index step) : first_(first), step_(step) {}

  constexpr T& operator*() const { return first_[place_ * step_]; }
  constexpr T* operator->() const { return first_ + place_ * step_; }
  constexpr T& operator[](index further) const { return *(*this + further); }

  constexpr strided_iterator& operator+=(index further) {
    place_ += further;
    return *this;
  }
  constexpr strided_iterator& operator-=(index further) { return *this += -further; }
  constexpr strided_iterator& operator++() { return *this += 1; }
  constexpr strided_iterator& operator--() { return *this += -1; }
  constexpr strided_iterator operator++(int) {
    const strided_iterator before = *this;
    ++*this;
    return before;
  }
  constexpr strided_iterator operator--(int) {
    const strided_iterator before = *this;
    --*this;
    return before;
  }
  friend constexpr strided_iterator operator+(strided_iterator from, index further) { return from += further; }
  friend constexpr strided_iterator operator+(index further, strided_iterator from) { return from += further; }
  friend constexpr strided_iterator operator-(strided_iterator from, index further) { return from -= further; }
  friend constexpr index operator-(const strided_iterator& last, const strided_iterator& first) {
    return last.place_ - first.place_;
  }
  friend constexpr bool operator==(const strided_iterator& left, const strided_iterator& right) {
    return left.place_ == right.place_;
  }
  friend constexpr std::strong_ordering operator<=>(const strided_iterator& left, const strided_iterator& right) {
    return left.place_ <=> right.place_;
  }

 private:
  T* first_ = nullptr;
  index step_ = 0, place_ = 0;
};

}  // namespace tenon::detail
