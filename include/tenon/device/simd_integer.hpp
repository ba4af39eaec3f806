// tenon/device/simd_integer.hpp: integers without undefined behaviour, as numbers and as packs.
// Sums wrap around, division by 0 gives 0, and a shift beyond the width shifts everything out.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd.hpp>

namespace tenon::simd {

template <class V>
inline constexpr bool has_integer_lanes = std::is_integral_v<lane_of<V>>;
template <class V>
inline constexpr bool has_signed_lanes = has_integer_lanes<V> && std::is_signed_v<lane_of<V>>;

/// What sums and products of V are formed in: unsigned for integers, so that they wrap around; V itself for the others.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr auto wrapping(V x) {
  using lane = lane_of<V>;
  if constexpr (!has_integer_lanes<V>) {
    return x;
  } else if constexpr (std::is_same_v<V, bool>) {
    return static_cast<unsigned>(x);
  } else if constexpr (is_number<V>) {
    return static_cast<std::common_type_t<std::make_unsigned_t<lane>, unsigned>>(x);  // C++ makes short ones signed
  } else {
    return as_bits<pack<std::make_unsigned_t<lane>, width_of<V>>>(x);
  }
}

/// The way back from `wrapping`.
template <class V, class Wrapping>
TENON_HOST_DEVICE TENON_INLINE constexpr V unwrapped(Wrapping x) {
  if constexpr (is_number<V>) {
    return static_cast<V>(x);
  } else {
    return as_bits<V>(x);
  }
}

/// -x, wrapped around.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V negated(V x) {
  return unwrapped<V>(-wrapping(x));
}

namespace detail {
/// A divisor that the machine takes: 1 in the place of 0, and of -1, whose quotients may overflow.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V harmless_divisor(V y) {
  const V one = constant_like<V>(1), nonzero = select(y == V{}, one, y);
  if constexpr (has_signed_lanes<V>) {
    return select(y == constant_like<V>(-1), one, nonzero);
  } else {
    return nonzero;
  }
}
}  // namespace detail

/// x / y, of integers rounded towards zero: 0 where y is 0; the lowest number by -1 is itself.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V quotient(V x, V y) {
  if constexpr (!has_integer_lanes<V>) {
    return x / y;
  } else {
    const V regular = static_cast<V>(x / detail::harmless_divisor(y)), whole = select(y == V{}, V{}, regular);
    if constexpr (has_signed_lanes<V>) {
      return select(y == constant_like<V>(-1), negated(x), whole);
    } else {
      return whole;
    }
  }
}

/// What `quotient` of integers leaves, with the sign of x; 0 where y is 0.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V rest(V x, V y) {
  return static_cast<V>(x % detail::harmless_divisor(y));
}

namespace detail {
template <class V>
inline constexpr int lane_bits = 8 * static_cast<int>(sizeof(lane_of<V>));

/// Where a shift by `count` leaves nothing of the number; negative counts are taken for great ones.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr auto shifts_all(V count) {
  const auto beyond = count > constant_like<V>(lane_bits<V> - 1);
  if constexpr (has_signed_lanes<V>) {
    return beyond | (count < V{});
  } else {
    return beyond;
  }
}
}  // namespace detail

/// x * 2^count, wrapped around; 0 where count is negative or the width or more.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V shift_left(V x, V count) {
  const auto all = detail::shifts_all(count);
  return select(all, V{}, unwrapped<V>(wrapping(x) << wrapping(select(all, V{}, count))));
}

/// x / 2^count rounded down; 0, or -1 of a negative x, where count is negative or the width or more.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V shift_right(V x, V count) {
  const auto all = detail::shifts_all(count);
  if constexpr (has_signed_lanes<V>) {
    return static_cast<V>(x >> select(all, constant_like<V>(detail::lane_bits<V> - 1), count));
  } else {
    return select(all, V{}, static_cast<V>(x >> select(all, V{}, count)));
  }
}

}  // namespace tenon::simd
