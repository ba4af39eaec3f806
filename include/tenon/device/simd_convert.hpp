// tenon/device/simd_convert.hpp: lanes of one type as lanes of another.
// The same values as `converted_to` gives numbers: what an integer cannot hold is brought into its range first.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <tenon/device/simd.hpp>

#if defined(__clang__)
#pragma clang diagnostic push  // vectors pass between functions that are one by then, so no binary interface changes
#pragma clang diagnostic ignored "-Wpsabi"
#endif

namespace tenon::simd {

namespace detail {

/// Each lane as a number of type To. Integers grow and shrink by a factor of 2 at a time: greater steps g++ takes lane
/// by lane.
template <class To, class V>
TENON_HOST_DEVICE TENON_INLINE constexpr auto in_steps(const V& lanes) {
  using lane = lane_of<V>;
  if constexpr (std::is_integral_v<lane> && sizeof(To) > 2 * sizeof(lane)) {
    using wider = std::conditional_t<sizeof(lane) == 1, std::int16_t, std::int32_t>;
    return in_steps<To>(__builtin_convertvector(lanes, pack<wider, width_of<V>>));
  } else if constexpr (std::is_integral_v<To> && sizeof(lane) > 2 * sizeof(To)) {
    using narrower = std::conditional_t<sizeof(lane) == 4, std::int16_t, std::int32_t>;
    return in_steps<To>(__builtin_convertvector(lanes, pack<narrower, width_of<V>>));
  } else {
    return __builtin_convertvector(lanes, pack<To, width_of<V>>);
  }
}

/// As `saturated_to` of each lane. What is converted is within the range, so no lane meets an undefined conversion; and
/// in steps, since compilers are at their best between lanes of one size.
template <class Whole, class V>
TENON_INLINE constexpr auto saturated(const V& lanes) {
  using lane = lane_of<V>;
  using same_size = decltype(lanes == lanes);
  using target = pack<Whole, width_of<V>>;
  if constexpr (sizeof(Whole) > sizeof(lane)) {
    return saturated<Whole>(__builtin_convertvector(lanes, pack<double, width_of<V>>));
  } else {
    constexpr lane above = first_above<Whole, lane>, lowest = std::is_signed_v<Whole> ? -above : lane(0);
    constexpr bool is_exact = std::numeric_limits<Whole>::digits <= std::numeric_limits<lane>::digits;
    constexpr lane highest = is_exact ? above - 1 : above - above * std::numeric_limits<lane>::epsilon() / 2;
    const V numbers = lanes == lanes ? lanes : V{};
    const V within = at_most(at_least(numbers, constant_like<V>(lowest)), constant_like<V>(highest));
    if constexpr (sizeof(Whole) < sizeof(lane)) {
      return __builtin_convertvector(__builtin_convertvector(within, same_size), target);
    } else {
      const target converted = __builtin_convertvector(within, target);
      return is_exact ? converted : lanes >= above ? std::numeric_limits<Whole>::max() - target{} : converted;
    }
  }
}

}  // namespace detail

/// Lanes of `From` as lanes of `To`; numbers become true where they are not 0, true becomes 1; floats beyond the range
/// of integers become the nearest one, NaN becomes 0.
template <class From, class To, class V>
TENON_HOST_DEVICE TENON_INLINE constexpr auto convert(const V& lanes) {
  using target = pack<To, width_of<V>>;
  if constexpr (is_number<V>) {
    return converted_to<To>(lanes);
  } else if constexpr (std::is_same_v<From, To>) {
    return lanes;
  } else if constexpr (std::is_same_v<To, bool>) {
    return __builtin_convertvector(lanes != V{}, target);
  } else if constexpr (std::is_same_v<From, bool>) {
    return __builtin_convertvector(-lanes, target);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return detail::saturated<To>(lanes);
  } else {
    return detail::in_steps<To>(lanes);
  }
}

/// The result of an operation on packs as lanes of T: comparisons give masks as wide as their operands.
template <class T, class V>
TENON_HOST_DEVICE TENON_INLINE constexpr auto as_lanes(const V& lanes) {
  if constexpr (is_number<V>) {
    return static_cast<T>(lanes);
  } else {
    using target = pack<T, width_of<V>>;
    return __builtin_convertvector(lanes, target);
  }
}

}  // namespace tenon::simd

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
