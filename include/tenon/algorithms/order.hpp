// tenon/algorithms/order.hpp: which of two elements comes first.
// NaN is greater than every number and equal to itself, so that the order is total and NaN comes last, as in NumPy.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/monoids.hpp>

namespace tenon {

/// Whether one element comes before another; of equal ones with positions, the lower position does.
template <bool Descending>
struct element_order {
  template <class T>
  TENON_HOST_DEVICE constexpr bool operator()(T left, T right) const {
    if constexpr (Descending) {
      return element_order<false>{}(right, left);
    } else if constexpr (is_floating<T>) {
      return left < right || (right != right && left == left);
    } else {
      return left < right;
    }
  }
  template <class T>
  TENON_HOST_DEVICE constexpr bool operator()(const located<T>& left, const located<T>& right) const {
    if ((*this)(left.value, right.value)) return true;
    return !(*this)(right.value, left.value) && left.position < right.position;
  }
};
using ascending_order = element_order<false>;
using descending_order = element_order<true>;

namespace detail {

/// The unsigned integer of `Bytes` bytes.
template <int Bytes>
using unsigned_of = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t, std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

}  // namespace detail

/// The key of an element for radix sorts: an unsigned number that is less for elements that come before, and the same
/// for equal ones.
template <bool Descending, class T>
TENON_HOST_DEVICE constexpr auto order_key(T element) {
  using key = detail::unsigned_of<static_cast<int>(sizeof(T))>;
  constexpr key ones = static_cast<key>(~key{0}), top = static_cast<key>(ones ^ (ones >> 1));
  if constexpr (Descending) {
    return static_cast<key>(~order_key<false>(element));
  } else if constexpr (is_floating<T>) {
    const auto value = static_cast<compute_type<T>>(element);
    if (value != value) return ones;
    const key bits = value == 0 ? key{0} : detail::bits_as<key>(element);  // of both zeros
    return static_cast<key>((bits & top) != 0 ? ~bits : bits | top);
  } else {
    return static_cast<key>(static_cast<key>(element) ^ (std::is_signed_v<T> ? top : key{0}));
  }
}

}  // namespace tenon
