// tenon/device/simd_lanes.hpp: functions of numbers, applied to packs lane by lane.
// The lanes are taken through arrays and the loop over them is kept a loop: in this form compilers vectorise it.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd.hpp>

namespace tenon::simd {

namespace detail {

/// The lanes of a pack in memory; those of bool are masks of 32 bits, 0 or -1.
template <class T, int Width>
struct lane_array {
  std::conditional_t<std::is_same_v<T, bool>, std::int32_t, T> lanes[Width];

  lane_array() = default;
  TENON_INLINE explicit lane_array(const pack<T, Width>& from) { std::memcpy(lanes, &from, sizeof(lanes)); }
  TENON_INLINE T operator[](int lane) const { return static_cast<T>(lanes[lane]); }
  TENON_INLINE void set(int lane, T number) {
    if constexpr (std::is_same_v<T, bool>) {
      lanes[lane] = -static_cast<std::int32_t>(number);
    } else {
      lanes[lane] = number;
    }
  }
};

template <int Width, class Function, class... Arrays>
TENON_INLINE auto map_arrays(const Function& function, const Arrays&... arrays) {
  using number = std::remove_cvref_t<decltype(function(arrays[0]...))>;
  lane_array<number, Width> results;
#if !defined(__CUDACC__)
#pragma GCC unroll 1
#endif
  for (int lane = 0; lane < Width; ++lane) results.set(lane, function(arrays[lane]...));
  pack<number, Width> result;
  std::memcpy(&result, results.lanes, sizeof(result));
  return result;
}

}  // namespace detail

/// `function` of the first lanes, of the second lanes, ...: a pack of its results. The lanes of the packs are
/// `Numbers`.
template <class... Numbers, class Function, class... Packs>
TENON_INLINE auto map_lanes(const Function& function, const Packs&... packs) {
  constexpr int widths[] = {width_of<Packs>...};
  return detail::map_arrays<widths[0]>(function, detail::lane_array<Numbers, widths[0]>(packs)...);
}

}  // namespace tenon::simd
