// tenon/host/fold_block.hpp: a block of a row, folded while it is in the first cache.
// Monoids of one number are folded in lanes. Variances and positions of extremes read the values of a block twice.
// Floor 4: may include base, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_reduce.hpp>
#include <tenon/expr/monoids.hpp>
#include <tenon/host/staging.hpp>

namespace tenon::detail {

inline constexpr index run_block = 4096;    // values folded side by side before they enter the cascade
inline constexpr int most_folded_cost = 7;  // operations of a value that is folded as it is computed
inline constexpr int most_looked_at = 3;    // of a value that is computed again for each of two passes

/// Whether values of so many operations are written to memory before they are folded: costly ones are, so that one loop
/// of a type folds the values of all expressions.
template <class Cursor, int Most>
inline constexpr bool is_written_first = (cost_of<Cursor> > Most) && (simd::width_for(Cursor::widest) > 1) &&
                                         std::is_arithmetic_v<decltype(std::declval<Cursor>().value(0, no_slots{}))>;

/// Whether packs are folded. Those of truth values are not: they are masks, of which true (-1) is less than false.
template <class Monoid, class State, class Cursor>
inline constexpr bool folds_in_lanes = is_lanewise<Monoid> && !std::is_same_v<State, bool> &&
                                       std::is_same_v<State, decltype(std::declval<Cursor>().value(0, no_slots{}))>;

/// Combines packs in several chains, which hide the latency of `combine`; packs behind the last whole step make one
/// more chain. The order is that of positions, however elements are read.
template <class Monoid, class State, class Cursor>
struct pack_chains {
  static constexpr int width = simd::width_for(Cursor::widest), count = 8, step = count * width;
  using pack = simd::pack<State, width>;
  pack chains[count], rest;

  TENON_INLINE pack_chains() {
    rest = simd::broadcast<State, width>(Monoid::template identity<State>());
    for (int chain = 0; chain < count; ++chain) chains[chain] = rest;
  }
  /// Every `Step`-th chain from `First` on, combined as a tree.
  template <int First = 0, int Step = 1>
  TENON_INLINE static pack joined(const pack* packs) {
    if constexpr (Step == count) return packs[First];
    else return Monoid::combine(joined<First, 2 * Step>(packs), joined<First + Step, 2 * Step>(packs));
  }
  /// All of [begin, end), whose packs are done.
  TENON_INLINE State total(index begin, index end) {
    State result = Monoid::template identity<State>();
    if (end - begin >= step) result = Monoid::combine(result, simd::reduce(joined(chains), combination<Monoid>{}));
    if ((end - begin) % step >= width) result = Monoid::combine(result, simd::reduce(rest, combination<Monoid>{}));
    return result;
  }
};

/// Whole steps of [i, end) combined, and where they end. Elements beyond the caches are prefetched some pages ahead,
/// which hardware does not do. Chains are named one by one: in loops over them, they would lie in memory.
template <class Monoid, class State, class Cursor, class Slots, int... Chain>
TENON_INLINE State fold_steps(const Cursor& cursor, index& i, index end, bool is_cached, const Slots& slots,
                              std::integer_sequence<int, Chain...>) {
  using chains_type = pack_chains<Monoid, State, Cursor>;
  constexpr int width = chains_type::width, step = chains_type::step;
  constexpr index ahead = 8192 / Cursor::widest;
  constexpr whole_access<reading::adjacent> access;
  const auto none = simd::broadcast<State, width>(Monoid::template identity<State>());
  typename chains_type::pack chains[] = {((void)Chain, none)...};
  for (; i + step <= end; i += step) {
    if (!is_cached) (prefetch(cursor, i + Chain * width + ahead), ...);
    ((chains[Chain] = Monoid::combine(chains[Chain], cursor.template pack<width>(i + Chain * width, access, slots))),
     ...);
  }
  return simd::reduce(chains_type::joined(chains), combination<Monoid>{});
}

/// The packs of [i, end) combined, and where they end. The last of elements in memory is one in part, where the machine
/// can.
template <class Monoid, class State, class Cursor, class Slots>
TENON_INLINE State fold_packs(const Cursor& cursor, index& i, index end, bool is_cached, const Slots& slots) {
  using chains_type = pack_chains<Monoid, State, Cursor>;
  constexpr int width = chains_type::width;
  constexpr whole_access<reading::adjacent> access;
  State result = Monoid::template identity<State>();
  if (i + chains_type::step <= end) {
    constexpr std::make_integer_sequence<int, chains_type::count> chains;
    result = Monoid::combine(result, fold_steps<Monoid, State>(cursor, i, end, is_cached, slots, chains));
  }
  constexpr bool takes_part = simd::has_partial_packs && takes_partial<Cursor> && cost_of<Cursor> == 0 && width > 1;
  if (i + (takes_part ? 1 : width) <= end) {
    const auto none = simd::broadcast<State, width>(Monoid::template identity<State>());
    auto rest = none;
    for (; i + width <= end; i += width) {
      rest = Monoid::combine(rest, cursor.template pack<width>(i, access, slots));
    }
    if constexpr (takes_part) {
      if (i < end) {
        const auto part = cursor.template pack<width>(i, partial_access<reading::adjacent>{end - i}, slots);
        rest = Monoid::combine(rest, simd::first_lanes(part, none, end - i));
        i = end;
      }
    }
    result = Monoid::combine(result, simd::reduce(rest, combination<Monoid>{}));
  }
  return result;
}

/// The same for strided elements. Few are folded in this way, so the loop is kept as short as possible.
template <class Monoid, class State, class Cursor, class Slots>
[[gnu::noinline]] State fold_strided_packs(const Cursor& cursor, index& i, index end, const Slots& slots) {
  using chains_type = pack_chains<Monoid, State, Cursor>;
  constexpr int width = chains_type::width;
  chains_type folded;
  const index begin = i, whole = i + (end - i) / chains_type::step * chains_type::step;
  for (int chain = 0; i + width <= end; i += width, chain = (chain + 1) % chains_type::count) {
    auto& into = i < whole ? folded.chains[chain] : folded.rest;
    into = Monoid::combine(into, cursor.template pack<width>(i, whole_access<reading::strided>{}, slots));
  }
  return folded.total(begin, end);
}

/// How long a block is that is worth copies and second passes.
template <class Cursor>
inline constexpr index long_block = 4 * simd::width_for(Cursor::widest);
template <class Cursor>
constexpr bool is_long_block(index count) {
  return simd::width_for(Cursor::widest) > 1 && count >= long_block<Cursor>;
}

/// A block in lanes, and what is left of it one by one.
template <class Monoid, class State, class Cursor, class Slots>
State fold_lanes(const Cursor& cursor, index begin, index end, bool is_cached, const Slots& slots) {
  index i = begin;
  State result = cursor.is_adjacent() ? fold_packs<Monoid, State>(cursor, i, end, is_cached, slots)
                                      : fold_strided_packs<Monoid, State>(cursor, i, end, slots);
  for (; i < end; ++i) {
    result = Monoid::combine(result, Monoid::template lift<State>(cursor.value(i, slots), i));
  }
  return result;
}

/// The values of a cursor as numbers of type T, or their squared distances from `centre`.
template <class T, bool Distances, class Cursor>
struct moment_cursor {
  static constexpr int widest = greatest_size({simd::lane_bytes<T>, Cursor::widest});
  const Cursor& cursor;
  T centre;

  bool is_adjacent() const { return cursor.is_adjacent(); }
  template <class Slots>
  TENON_INLINE T value(index i, const Slots& slots) const {
    return moment_of(converted_to<T>(cursor.value(i, slots)));
  }
  template <int Width, class Access, class Slots>
  TENON_INLINE auto pack(index i, Access access, const Slots& slots) const {
    using value_type = decltype(cursor.value(i, slots));
    return moment_of(simd::convert<value_type, T>(cursor.template pack<Width>(i, access, slots)));
  }
  TENON_INLINE void prefetch(index i) const { tenon::prefetch(cursor, i); }

 private:
  template <class V>
  TENON_INLINE V moment_of(V value) const {
    if constexpr (Distances) return (value - centre) * (value - centre);
    else return value;
  }
};

/// The moments of a block: its mean, then the distances from it.
template <class State, class Cursor, class Slots>
State fold_moments(const Cursor& cursor, index begin, index end, bool is_cached, const Slots& slots) {
  using number = decltype(State::mean);
  const auto count = static_cast<number>(end - begin);
  const moment_cursor<number, false, Cursor> values{cursor, 0};
  const number mean = fold_lanes<sum_monoid, number>(values, begin, end, is_cached, slots) / count;
  const moment_cursor<number, true, Cursor> distances{cursor, mean};
  return {count, mean, fold_lanes<sum_monoid, number>(distances, begin, end, true, slots)};
}

/// Which lanes are the extreme, or a NaN.
template <class V, class Number>
TENON_INLINE auto are_extreme(V value, Number extreme) {
  return (value == extreme) | (value != value);
}

/// Where the first pack of [i, end) with an extreme begins, or the packs end.
template <class Access, class Number, class Cursor, class Slots>
TENON_INLINE index find_pack(const Cursor& cursor, index i, index end, Number extreme, const Slots& slots) {
  constexpr int width = simd::width_for(Cursor::widest);
  for (; i + width <= end; i += width) {
    const auto found = are_extreme(cursor.template pack<width>(i, Access{}, slots), extreme);
    if (simd::has_bits(found)) return i;
  }
  return i;
}

/// The extreme of a block and where it is first; a NaN is the extreme.
template <class Extreme, class State, class Cursor, class Slots>
State fold_position(const Cursor& cursor, index begin, index end, index first, bool is_cached, const Slots& slots) {
  using number = decltype(State::value);
  const number extreme = fold_lanes<Extreme, number>(cursor, begin, end, is_cached, slots);
  index i = cursor.is_adjacent() ? find_pack<whole_access<reading::adjacent>>(cursor, begin, end, extreme, slots)
                                 : find_pack<whole_access<reading::strided>>(cursor, begin, end, extreme, slots);
  while (i < end && !are_extreme(cursor.value(i, slots), extreme)) ++i;
  return {extreme, first + i};
}

template <class Cursor, class Slots>
inline constexpr bool is_numeric = [] {
  using value_type = decltype(std::declval<const Cursor&>().value(0, std::declval<const Slots&>()));
  return std::is_arithmetic_v<value_type> && !std::is_same_v<value_type, bool>;
}();

/// Whether a state of truth values is how many are true.
template <class Monoid>
inline constexpr bool counts_truths = std::is_same_v<Monoid, sum_monoid> || std::is_same_v<Monoid, mean_monoid>;
/// Whether a monoid of truth values is folded in masks, in which -1 stands for true: any, all, and counts.
template <class Monoid, class Cursor, class Slots>
inline constexpr bool folds_masks =
    (counts_truths<Monoid> || std::is_same_v<Monoid, any_monoid> || std::is_same_v<Monoid, all_monoid>) &&
    simd::width_for(Cursor::widest) > 1 &&
    std::is_same_v<decltype(std::declval<const Cursor&>().value(0, std::declval<const Slots&>())), bool>;

/// Masks of at most 2^31 values a lane: whether one decides `any` or `all`, or how many are true.
template <class Monoid, class Mask>
struct mask_fold {
  Mask lanes{};

  TENON_INLINE void add(Mask mask) {
    if constexpr (counts_truths<Monoid>) lanes -= mask;
    else lanes |= std::is_same_v<Monoid, any_monoid> ? mask : ~mask;
  }
  /// The state of all lanes together, and that of one.
  template <class State>
  TENON_INLINE State total() const {
    if constexpr (counts_truths<Monoid>) return static_cast<State>(simd::sum(lanes));
    else return simd::has_bits(lanes) == std::is_same_v<Monoid, any_monoid>;
  }
  template <class State>
  TENON_INLINE State lane(index number) const {
    if constexpr (counts_truths<Monoid>) return static_cast<State>(lanes[number]);
    else return (lanes[number] != 0) == std::is_same_v<Monoid, any_monoid>;
  }
};

/// A block of truth values.
template <class Monoid, class State, class Cursor, class Slots>
State fold_truths(const Cursor& cursor, index begin, index end, const Slots& slots) {
  constexpr int width = simd::width_for(Cursor::widest);
  mask_fold<Monoid, simd::pack<bool, width>> folded;
  index i = begin;
  if (cursor.is_adjacent()) {
    for (; i + width <= end; i += width) {
      folded.add(cursor.template pack<width>(i, whole_access<reading::adjacent>{}, slots));
    }
  }
  State result = folded.template total<State>();
  for (; i < end; ++i) {
    result = Monoid::combine(result, Monoid::template lift<State>(cursor.value(i, slots), i));
  }
  return result;
}

/// As fold_block, with elements read by the cursor itself.
template <class Monoid, class State, class Cursor, class Slots>
State fold_values(const Cursor& cursor, index begin, index end, index first, bool is_cached, const Slots& slots) {
  [[maybe_unused]] const bool is_long = is_long_block<Cursor>(end - begin);
  if constexpr (folds_in_lanes<Monoid, State, Cursor>) {
    return fold_lanes<Monoid, State>(cursor, begin, end, is_cached, slots);
  } else if constexpr (folds_masks<Monoid, Cursor, Slots>) {
    return fold_truths<Monoid, State>(cursor, begin, end, slots);
  } else if constexpr (std::is_same_v<Monoid, variance_monoid>) {
    if (simd::width_for(Cursor::widest) > 1 && end - begin > 1)
      return fold_moments<State>(cursor, begin, end, is_cached, slots);
  } else if constexpr (std::is_same_v<Monoid, argmax_monoid> && is_numeric<Cursor, Slots>) {
    if (is_long) return fold_position<max_monoid, State>(cursor, begin, end, first, is_cached, slots);
  } else if constexpr (std::is_same_v<Monoid, argmin_monoid> && is_numeric<Cursor, Slots>) {
    if (is_long) return fold_position<min_monoid, State>(cursor, begin, end, first, is_cached, slots);
  }
  State result = Monoid::template identity<State>();
  for (index i = begin; i < end; ++i) {
    result = Monoid::combine(result, Monoid::template lift<State>(cursor.value(i, slots), first + i));
  }
  return result;
}

/// As fold_block; the row is copied first where packs cannot read it.
template <class Monoid, class State, class Cursor, class Slots>
State fold_staged(const Cursor& cursor, index begin, index end, index first, bool is_cached, const Slots& slots) {
  constexpr int most = folds_in_lanes<Monoid, State, Cursor> ? most_folded_cost : most_looked_at;
  if constexpr (is_written_first<Cursor, most>) {
    using number = decltype(cursor.value(0, slots));
    alignas(line_bytes) number values[run_block];
    number* const numbered = numbered_from(values, begin);
    write_row<reading::strided>(numbered, false, {{begin, end}}, cursor, slots);
    return fold_values<Monoid, State>(strided_cursor<number>{numbered, 1}, begin, end, first, true, no_slots{});
  } else {
    return fold_values<Monoid, State>(cursor, begin, end, first, is_cached, slots);
  }
}

/// [begin, end) of one row, at most run_block values; `first` is the position of the row's start among the reduced.
/// Strided rows of more than staged_row::most_elements must come in pieces.
template <class Monoid, class State, class Cursor, class Slots>
State fold_block(const Cursor& cursor, index begin, index end, index first, bool is_cached, const Slots& slots) {
  if (cursor.is_adjacent() || !is_long_block<Cursor>(end - begin)) {
    return fold_staged<Monoid, State>(cursor, begin, end, first, is_cached, slots);
  }
  Cursor staged = cursor;
  staged_row row(begin, end - begin);
  visit_elements(staged, row);
  return fold_staged<Monoid, State>(staged, begin, end, first, is_cached, slots);
}

}  // namespace tenon::detail
