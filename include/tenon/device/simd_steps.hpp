// tenon/device/simd_steps.hpp: packs of elements that lie a few steps apart.
// Neighbouring packs are read and their lanes shuffled: what is read for one tap of a window serves the next.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd.hpp>

namespace tenon::simd {

/// The longest step that shuffles know.
inline constexpr index longest_step = 4;

#if !defined(__CUDACC__)
namespace detail {

/// Lanes `Phase`, `Phase` + `Step`, ... of two packs side by side; lanes of the result past their end hold anything.
template <int Step, int Phase, class V, int... Lane>
TENON_INLINE V pick_lanes(V first, V second, std::integer_sequence<int, Lane...>) {
  constexpr int width = static_cast<int>(sizeof...(Lane));
  return __builtin_shufflevector(first, second, (Phase + Step * Lane) % (2 * width)...);
}

/// Every third lane of three packs, from lane `Phase` on: `picked` has those of the first two packs.
template <int Phase, class V, int... Lane>
TENON_INLINE V pick_from_third(V picked, V third, std::integer_sequence<int, Lane...>) {
  constexpr int width = static_cast<int>(sizeof...(Lane));
  return __builtin_shufflevector(picked, third, (Phase + 3 * Lane < 2 * width ? Lane : Phase + 3 * Lane - width)...);
}

/// Interleaves `Turns` packs one by one: lanes of `own` go to the places of turn `Turn`; `others` has earlier ones.
template <int Turns, int Turn, int First, class V, int... Lane>
TENON_INLINE V take_turn(V others, V own, std::integer_sequence<int, Lane...>) {
  constexpr int width = static_cast<int>(sizeof...(Lane));
  return __builtin_shufflevector(others, own,
                                 ((First + Lane) % Turns == Turn ? width + (First + Lane) / Turns
                                  : Turn == 1                    ? (First + Lane) / Turns
                                                                 : Lane)...);
}

}  // namespace detail

/// Of `Step` packs side by side the elements `Phase`, `Phase` + `Step`, ...
template <int Step, int Phase, class V>
TENON_INLINE V pick_steps(const array<V, Step>& packs) {
  constexpr std::make_integer_sequence<int, width_of<V>> lanes{};
  if constexpr (Step == 1 || width_of<V> == 1) {
    return packs[Phase];
  } else if constexpr (Step == 2) {
    return detail::pick_lanes<2, Phase>(packs[0], packs[1], lanes);
  } else if constexpr (Step == 3) {
    return detail::pick_from_third<Phase>(detail::pick_lanes<3, Phase>(packs[0], packs[1], lanes), packs[2], lanes);
  } else {
    static_assert(Step == longest_step);
    const auto left = detail::pick_lanes<2, Phase % 2>(packs[0], packs[1], lanes);
    const auto right = detail::pick_lanes<2, Phase % 2>(packs[2], packs[3], lanes);
    return detail::pick_lanes<2, Phase / 2>(left, right, lanes);
  }
}

/// `from[Position]`, `from[Position + Step]`, ...: `Width` lanes of the Step x Width elements that begin at a multiple
/// of the step, all of which are read.
template <class T, int Width, int Step, int Position>
TENON_INLINE pack<T, Width> load_steps(const T* from) {
  if constexpr (Width == 1) {
    return from[Position];
  } else {
    array<pack<T, Width>, Step> packs;
    for_each_index<Step>([&](auto k) __attribute__((always_inline)) {
      packs[k.value] = load<T, Width>(from + Position / Step * Step + k.value * Width);
    });
    return pick_steps<Step, Position % Step>(packs);
  }
}

/// The reverse: lane i of pack k goes to `to[i * Step + k]`.
template <class T, class V, int Step>
TENON_INLINE void store_steps(T* to, const array<V, Step>& packs) {
  constexpr int width = width_of<V>;
  for_each_index<Step>([&](auto k) __attribute__((always_inline)) {
    V result = packs[0];
    for_each_index<Step - 1>([&](auto turn) __attribute__((always_inline)) {
      constexpr std::make_integer_sequence<int, width> lanes{};
      result = detail::take_turn<Step, turn.value + 1, k.value * width>(result, packs[turn.value + 1], lanes);
    });
    store<width>(to + k.value * width, result);
  });
}
#endif

}  // namespace tenon::simd
