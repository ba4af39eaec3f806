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

/// The sum of all lanes.
template <class V>
TENON_INLINE lane_of<V> sum(const V& lanes) {
  return reduce(lanes, [](auto left, auto right) { return left + right; });
}
/// Whether a lane has a bit that is set: lanes of comparisons have all or none.
template <class V>
TENON_INLINE bool has_bits(const V& lanes) {
  return reduce(lanes, [](auto left, auto right) { return left | right; }) != 0;
}

#if !defined(__CUDACC__)
namespace detail {

/// The halves of a pack added lane by lane, and theirs, until `Lanes` are left.
template <int Lanes, class V>
TENON_INLINE auto folded_to(const V& lanes) {
  if constexpr (width_of<V> == Lanes) {
    return lanes;
  } else {
    constexpr int half = width_of<V> / 2;
    constexpr std::make_integer_sequence<int, half> places;
    return folded_to<Lanes>(pack<lane_of<V>, half>(lanes_from<0>(lanes, places) + lanes_from<half>(lanes, places)));
  }
}

}  // namespace detail

/// The sums of the lanes of each pack, side by side.
template <class V>
TENON_INLINE auto sums(const V (&packs)[2]) {
  const auto first = detail::folded_to<2>(packs[0]), second = detail::folded_to<2>(packs[1]);
  return pack<lane_of<V>, 2>(__builtin_shufflevector(first, second, 0, 2) +
                             __builtin_shufflevector(first, second, 1, 3));
}
template <class V>
TENON_INLINE auto sums(const V (&packs)[4]) {
  const auto sums_of_halves = [](const V& first, const V& second) __attribute__((always_inline)) {
    const auto left = detail::folded_to<4>(first), right = detail::folded_to<4>(second);
    return pack<lane_of<V>, 4>(__builtin_shufflevector(left, right, 0, 4, 1, 5) +
                               __builtin_shufflevector(left, right, 2, 6, 3, 7));
  };
  const auto low = sums_of_halves(packs[0], packs[1]), high = sums_of_halves(packs[2], packs[3]);
  return pack<lane_of<V>, 4>(__builtin_shufflevector(low, high, 0, 1, 4, 5) +
                             __builtin_shufflevector(low, high, 2, 3, 6, 7));
}
#else  // nvcc has no packs of several lanes
template <class V, int Count>
TENON_INLINE auto sums(const V (&packs)[Count]) {
  pack<lane_of<V>, Count> result{};
  for (int k = 0; k < Count; ++k) result[k] = sum(packs[k]);
  return result;
}
#endif

}  // namespace tenon::simd
