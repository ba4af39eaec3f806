// tenon/device/simd_rounding.hpp: whole numbers near the lanes of packs.
// One instruction where the machine has it: the C library's functions do not vectorise.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_lanes.hpp>

namespace tenon::simd {

/// Directions, numbered as the instructions do.
enum class rounding { nearest_even = 0, down = 1, up = 2, towards_zero = 3 };

namespace detail {

template <rounding Direction>
struct round_number {
  template <class T>
  TENON_HOST_DEVICE TENON_INLINE T operator()(T x) const {
    if constexpr (Direction == rounding::nearest_even) return std::rint(x);
    if constexpr (Direction == rounding::down) return std::floor(x);
    if constexpr (Direction == rounding::up) return std::ceil(x);
    if constexpr (Direction == rounding::towards_zero) return std::trunc(x);
  }
};

}  // namespace detail

/// The whole number next to x in a direction; integers are whole, infinities and NaN stay.
template <rounding Direction, class V>
TENON_HOST_DEVICE TENON_INLINE V rounded(V x) {
  using lane = lane_of<V>;
  if constexpr (std::is_integral_v<lane>) {
    return x;
  } else if constexpr (is_number<V>) {
    return detail::round_number<Direction>{}(x);
  } else {
#if defined(__AVX__) && !defined(__CUDACC__)
    V result;
    constexpr int code = static_cast<int>(Direction);
    if constexpr (sizeof(V) == 64) {
      if constexpr (sizeof(lane) == 4) {
        asm("vrndscaleps %2, %1, %0" : "=v"(result) : "v"(x), "i"(code));
      } else {
        asm("vrndscalepd %2, %1, %0" : "=v"(result) : "v"(x), "i"(code));
      }
      return result;
    } else if constexpr (sizeof(V) >= 16) {
      if constexpr (sizeof(lane) == 4) {
        asm("vroundps %2, %1, %0" : "=x"(result) : "x"(x), "i"(code));
      } else {
        asm("vroundpd %2, %1, %0" : "=x"(result) : "x"(x), "i"(code));
      }
      return result;
    }
#endif
    return map_lanes<lane>(detail::round_number<Direction>{}, x);
  }
}

}  // namespace tenon::simd
