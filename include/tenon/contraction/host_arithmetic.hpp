// tenon/contraction/host_arithmetic.hpp: how the host product multiplies and adds.
// A lane holds one number, two bfloat16 or four bytes. The rest of the product knows no more of types than this.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/matrix_memory.hpp>
#include <tenon/device/simd_dot.hpp>

namespace tenon {

/// Products of numbers of type T, added in T. A lane of an operand holds a `unit`, which is a `group` of `element`s.
template <class T>
struct number_products {
  using left_element = T;
  using right_element = T;
  using unit = T;
  using sum = T;
  static constexpr int group = 1, lanes = simd::native_width<T>;
  static constexpr bool shifts_left = false;
  using pack = simd::pack<T, lanes>;

  static TENON_INLINE pack add(pack sums, T left, pack right) { return sums + left * right; }
};

/// Products of bfloat16, added in float, two at a time; numbers below the normal range count as 0.
struct bfloat16_products {
  using left_element = bfloat16;
  using right_element = bfloat16;
  using unit = std::uint32_t;
  using sum = float;
  static constexpr int group = 2, lanes = simd::native_width<float>;
  static constexpr bool shifts_left = false;
  using pack = simd::pack<float, lanes>;
  using units = simd::pack<unit, lanes>;

  static TENON_INLINE pack add(pack sums, unit left, units right) { return simd::add_bfloat16_dot(sums, left, right); }
};

/// Products of bytes, added modulo 2^32, four at a time. The instruction wants unsigned bytes on the left, so 128 is
/// added to signed ones. Sums therefore begin at -128 times the sum of their column of the right operand.
template <class Left>
struct byte_products {
  using left_element = Left;
  using right_element = std::int8_t;
  using unit = std::uint32_t;
  using sum = std::uint32_t;
  static constexpr int group = 4, lanes = simd::native_width<std::uint32_t>;
  static constexpr bool shifts_left = std::is_signed_v<Left>;
  using pack = simd::pack<sum, lanes>;

  static TENON_INLINE pack add(pack sums, unit left, pack right) { return simd::add_byte_dot(sums, left, right); }
};

/// Products of complex numbers and truth values: one at a time, without vectors.
template <class T>
struct single_products {
  using unit = T;
  using sum = T;
  static constexpr int group = 0;
};

namespace detail {

template <class T>
inline constexpr bool is_byte = std::is_same_v<T, std::int8_t> || std::is_same_v<T, std::uint8_t>;

/// How matrices whose products are elements of type T are multiplied.
template <class T, class Left, class Right>
constexpr auto choose_products() {
  using left = memory_element_of<decltype(without_casts(std::declval<const Left&>()))>;
  using right = memory_element_of<decltype(without_casts(std::declval<const Right&>()))>;
  if constexpr (is_complex<T> || std::is_same_v<T, bool>) {
    return single_products<T>{};
  } else if constexpr (std::is_same_v<left, bfloat16> && std::is_same_v<right, bfloat16> && simd::has_bfloat16_dot) {
    return bfloat16_products{};
  } else if constexpr (is_integer<T> && sizeof(T) <= 4) {
    if constexpr (is_byte<left> && std::is_same_v<right, std::int8_t> && simd::has_byte_dot) {
      return byte_products<left>{};
    } else {
      return number_products<std::uint32_t>{};  // no result of at most 32 bits depends on higher ones
    }
  } else if constexpr (is_integer<T>) {
    return number_products<std::uint64_t>{};
  } else {
    return number_products<compute_type<T>>{};
  }
}

}  // namespace detail

/// The arithmetic of a product of two matrices whose elements are of type T.
template <class T, class Left, class Right>
using host_products = decltype(detail::choose_products<T, Left, Right>());

}  // namespace tenon
