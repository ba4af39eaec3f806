// tenon/device/simd_interleave.hpp: groups of a few elements side by side, as a pack for each place within a group.
// Pack k of the memory holds lanes of all places; each pack of a place is chosen from one after another of them.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_transpose.hpp>

namespace tenon::simd {

#if !defined(__CUDACC__)
namespace detail {

/// The lanes of two packs that `Lanes::of(lane)` names, in place of those of `into`; -1 keeps a lane.
template <class Lanes, class V, int... Lane>
TENON_INLINE V take_lanes(const V& into, const V& from, std::integer_sequence<int, Lane...>) {
  constexpr int width = static_cast<int>(sizeof...(Lane));
  return __builtin_shufflevector(into, from, (Lanes::of(Lane) < 0 ? Lane : Lanes::of(Lane) + width)...);
}
template <class First, class Second, class V, int... Lane>
TENON_INLINE V join_lanes(const V& first, const V& second, std::integer_sequence<int, Lane...>) {
  constexpr int width = static_cast<int>(sizeof...(Lane));
  return __builtin_shufflevector(first, second,
                                 (First::of(Lane) >= 0   ? First::of(Lane)
                                  : Second::of(Lane) < 0 ? Lane
                                                         : Second::of(Lane) + width)...);
}

/// Of `Count` places and `Width` groups: which lane of pack `Pack` of the memory goes to a lane of place `Place`.
template <int Count, int Width, int Place, int Pack>
struct lanes_of_place {
  static constexpr int of(int group) {
    const int element = group * Count + Place;
    return element / Width == Pack ? element % Width : -1;
  }
};
/// Which lane of place `Place` goes to a lane of pack `Pack` of the memory.
template <int Count, int Width, int Pack, int Place>
struct lanes_of_memory {
  static constexpr int of(int lane) {
    const int element = Pack * Width + lane;
    return element % Count == Place ? element / Count : -1;
  }
};

template <template <int, int, int, int> class Lanes, int To, class V, int Count, int... From>
TENON_INLINE V chosen_lanes(const V (&packs)[Count], std::integer_sequence<int, From...>) {
  constexpr int width = width_of<V>;
  constexpr std::make_integer_sequence<int, width> lanes{};
  V result = join_lanes<Lanes<Count, width, To, 0>, Lanes<Count, width, To, 1>>(packs[0], packs[1], lanes);
  ((result = take_lanes<Lanes<Count, width, To, From + 2>>(result, packs[From + 2], lanes)), ...);
  return result;
}
template <template <int, int, int, int> class Lanes, class V, int Count, int... To>
TENON_INLINE void choose_lanes(V (&to)[Count], const V (&from)[Count], std::integer_sequence<int, To...>) {
  ((to[To] = chosen_lanes<Lanes, To>(from, std::make_integer_sequence<int, Count - 2>{})), ...);
}

}  // namespace detail
#endif

/// Element `place` of `Width` groups of `Count` elements side by side, as `packs[place]`.
template <int Width, class T, int Count>
TENON_INLINE void load_interleaved(pack<T, Width> (&packs)[Count], const T* from) {
#if !defined(__CUDACC__)
  if constexpr (Width > 1 && Count == Width) {
    TENON_UNROLL(16)
    for (int k = 0; k < Count; ++k) packs[k] = load<T, Width>(from + k * Width);
    return detail::transpose_blocks<Width / 2>(packs);
  } else if constexpr (Width > 1 && Count > 1) {
    pack<T, Width> memory[Count];
    TENON_UNROLL(16)
    for (int k = 0; k < Count; ++k) memory[k] = load<T, Width>(from + k * Width);
    return detail::choose_lanes<detail::lanes_of_place>(packs, memory, std::make_integer_sequence<int, Count>{});
  }
#endif
  for (int place = 0; place < Count; ++place) {
    packs[place] = generate<T, Width>([&](index lane) { return from[lane * Count + place]; });
  }
}

/// Writes `packs[place]` to element `place` of `Width` groups of `Count` elements side by side.
template <int Width, class T, int Count>
TENON_INLINE void store_interleaved(T* to, const pack<T, Width> (&packs)[Count]) {
#if !defined(__CUDACC__)
  if constexpr (Width > 1 && Count > 1) {
    pack<T, Width> memory[Count];
    if constexpr (Count == Width) {
      TENON_UNROLL(16)
      for (int k = 0; k < Count; ++k) memory[k] = packs[k];
      detail::transpose_blocks<Width / 2>(memory);
    } else {
      detail::choose_lanes<detail::lanes_of_memory>(memory, packs, std::make_integer_sequence<int, Count>{});
    }
    TENON_UNROLL(16)
    for (int k = 0; k < Count; ++k) store<Width>(to + k * Width, memory[k]);
    return;
  }
#endif
  if constexpr (Width == 1) {
    for (int place = 0; place < Count; ++place) to[place] = packs[place];
  } else {
    store<Width>(to, packs[0]);
  }
}

}  // namespace tenon::simd
