// tenon/host/fold_states.hpp: variances, positions of extremes and truth values of neighbours, in packs of results.
// States may be several numbers: a pack holds one of them for all results, and memory the states of each result.
// Floor 4: may include base, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/host/fold_block.hpp>

namespace tenon::detail {

inline constexpr index row_block = 64;  // rows that are added before they enter the cascade

template <class Monoid>
inline constexpr bool finds_positions = std::is_same_v<Monoid, argmax_monoid> || std::is_same_v<Monoid, argmin_monoid>;

/// Whether states of neighbouring results are made in packs.
template <class Monoid, class Cursor, class Slots>
inline constexpr bool folds_states_in_lanes =
    folds_masks<Monoid, Cursor, Slots> || ((finds_positions<Monoid> || std::is_same_v<Monoid, variance_monoid>) &&
                                           simd::width_for(Cursor::widest) > 1 && is_numeric<Cursor, Slots>);

/// The extremes of `count` rows, at most row_block, and the first rows that hold them; a NaN is the extreme.
/// `next_pack()` is a row's pack of as many results as `states` takes of it; the first row has number `first`.
template <class Monoid, class State, class NextPack>
TENON_INLINE void store_positions(State* states, index wanted, index count, index first, const NextPack& next_pack) {
  auto extreme = next_pack();
  using places = decltype(extreme > extreme);
  using place = std::remove_cvref_t<decltype(places{}[0])>;
  places found{};
  for (index row = 1; row < count; ++row) {
    const auto values = next_pack();
    const auto beyond = [&] {
      if constexpr (std::is_same_v<Monoid, argmax_monoid>) return values > extreme;
      else return values < extreme;
    }();
    const places is_new = (beyond | (values != values)) & (extreme == extreme);
    extreme = is_new ? values : extreme;
    found = is_new ? places{} + static_cast<place>(row) : found;
  }
  for (index lane = 0; lane < wanted; ++lane) states[lane] = {extreme[lane], first + index{found[lane]}};
}

/// What `count` rows of truth values say.
template <class Monoid, class State, class NextPack>
TENON_INLINE void store_truths(State* states, index wanted, index count, const NextPack& next_pack) {
  mask_fold<Monoid, decltype(next_pack())> folded;
  for (index row = 0; row < count; ++row) folded.add(next_pack());
  for (index lane = 0; lane < wanted; ++lane) states[lane] = folded.template lane<State>(lane);
}

/// The sum of `value(0)` to `value(count - 1)`, called in this order, in chains that hide the latency of an addition.
template <class Pack, class Value>
TENON_INLINE Pack sum_in_chains(index count, const Value& value) {
  Pack first{}, second{}, third{}, fourth{};
  index i = 0;
  for (; i + 4 <= count; i += 4)
    first += value(i), second += value(i + 1), third += value(i + 2), fourth += value(i + 3);
  for (; i < count; ++i) first += value(i);
  return (first + second) + (third + fourth);
}

/// The moments of `count` rows, at most row_block: their mean, then the distances from it. What distances sum up to is
/// what the mean lost in rounding, which corrects both.
/// source    Chan, Golub, LeVeque 1983: Algorithms for computing the sample variance, the corrected two-pass algorithm
template <class Pack, class Number, class NextPack>
TENON_INLINE void store_moments(moments<Number>* states, index wanted, index count, const NextPack& next_pack) {
  Pack values[row_block];
  for (index row = 0; row < count; ++row) values[row] = next_pack();
  const Pack mean = sum_in_chains<Pack>(count, [&](index row) { return values[row]; }) / static_cast<Number>(count);
  Pack distance = sum_in_chains<Pack>(count, [&](index row) {
    const Pack step = values[row] - mean;
    return step * step;
  });
  const Pack rest = sum_in_chains<Pack>(count, [&](index row) { return values[row] - mean; });
  const Pack share = rest / static_cast<Number>(count), corrected = mean + share;
  distance -= rest * share;
  if constexpr (simd::is_number<Pack>) {
    *states = {static_cast<Number>(count), corrected, distance};
  } else {
    for (index lane = 0; lane < wanted; ++lane) {
      states[lane] = {static_cast<Number>(count), corrected[lane], distance[lane]};
    }
  }
}

/// The states of the results `part` of `count` rows, the first of which has number `first`: whole packs of results and,
/// where the machine can, a last one in part. Returns where they end. `walk` gives the rows' cursors one by one.
template <class Monoid, class Cursor, class State, class Walk, class Slots>
index fold_state_packs(State* states, const Walk& walk, index count, index first, const array<index, 2>& part,
                       const Slots& slots) {
  constexpr bool has_moments = std::is_same_v<Monoid, variance_monoid>;
  constexpr int number_bytes = has_moments ? static_cast<int>(sizeof(State)) / 3 : 1;
  constexpr int width = simd::width_for(greatest_size({Cursor::widest, number_bytes}));
  const auto fold = [&](index i, auto access) {
    Walk rows = walk;
    const index wanted = wanted_count<width>(access);
    State* const to = states + (i - part[0]);
    const auto next_pack = [&] { return rows.next().template pack<width>(i, access, slots); };
    if constexpr (has_moments) {
      using number = decltype(State::mean);
      using value_type = decltype(std::declval<const Cursor&>().value(0, slots));
      store_moments<simd::pack<number, width>>(to, wanted, count,
                                               [&] { return simd::convert<value_type, number>(next_pack()); });
    } else if constexpr (finds_positions<Monoid>) {
      store_positions<Monoid>(to, wanted, count, first, next_pack);
    } else {
      store_truths<Monoid>(to, wanted, count, next_pack);
    }
  };
  index i = part[0];
  for (; i + width <= part[1]; i += width) fold(i, whole_access<reading::strided>{});
  if constexpr (simd::has_partial_packs && takes_partial<Cursor>) {
    if (i < part[1]) fold(i, partial_access<reading::strided>{part[1] - i});
    return part[1];
  }
  if constexpr (has_moments) {
    using number = decltype(State::mean);
    for (; i < part[1]; ++i) {
      Walk rows = walk;
      store_moments<number>(states + (i - part[0]), 1, count,
                            [&] { return converted_to<number>(rows.next().value(i, slots)); });
    }
  }
  return i;
}

}  // namespace tenon::detail
