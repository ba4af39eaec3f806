// tenon/device/simd_reduce.hpp: the lanes of a pack combined to one number.
// Halves are combined lane by lane, then their halves: as a balanced tree, in registers.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd.hpp>

namespace tenon::simd {

#if !defined(__CUDACC__)
namespace detail {

/// As many lanes as there are places, from lane `First` on.
template <int First, class V, int... Place>
TENON_INLINE auto lanes_from(const V& lanes, std::integer_sequence<int, Place...>) {
  return __builtin_shufflevector(lanes, lanes, (First + Place)...);
}

}  // namespace detail
#endif

/// All lanes combined as a balanced tree: first the two halves, lane by lane, and so on.
template <class V, class Combine>
TENON_INLINE lane_of<V> reduce(const V& lanes, Combine combine) {
  constexpr int half = width_of<V> / 2;
  if constexpr (half == 0) {
    return lanes;
  } else {
    using half_pack = pack<lane_of<V>, half>;
    half_pack low, high;
#if !defined(__CUDACC__)
    if constexpr (half > 1) {  // in registers: by way of memory, the second half would wait for the store
      constexpr std::make_integer_sequence<int, half> places;
      low = detail::lanes_from<0>(lanes, places), high = detail::lanes_from<half>(lanes, places);
      return reduce(half_pack(combine(low, high)), combine);
    }
#endif
    std::memcpy(&low, &lanes, sizeof(low));
    std::memcpy(&high, reinterpret_cast<const char*>(&lanes) + sizeof(low), sizeof(high));
    return reduce(half_pack(combine(low, high)), combine);
  }
}

}  // namespace tenon::simd
