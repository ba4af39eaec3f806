// tenon/host/added_rows.hpp: rows of values, added to the states of neighbouring results.
// Each pack is read where it lies, of eight rows at a time or of four: so many the hardware looks ahead along.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/host/fold_states.hpp>

namespace tenon::detail {

inline constexpr index page_bytes = 4096;   // in longer rows the hardware looks ahead by itself
inline constexpr index narrow_bytes = 512;  // in longer ones it does so where eight are read at once

/// The rows of values that neighbouring results have, one after another.
template <class Fold>
class row_walk {
 public:
  row_walk(const Fold& fold, array<index, Fold::rank> here, index row) : fold_(fold), here_(here) {
    here_[Fold::rank - 1] = 0;
    set_position(here_, fold.extents, fold.kept, Fold::rank - 1, row);
  }
  auto next() {
    const auto cursor = fold_.program.at(here_);
    advance_position(here_, fold_.extents, fold_.kept, Fold::rank - 1);
    return cursor;
  }
  auto next_four() { return array<decltype(next()), 4>{{next(), next(), next(), next()}}; }
  /// Eight rows of a program of one source that moves by strides.
  auto next_eight() {
    constexpr int along = Fold::rank - 2;
    if (here_[along] + 8 > fold_.extents[along] || fold_.kept > along) {
      return array<decltype(next()), 8>{{next(), next(), next(), next(), next(), next(), next(), next()}};
    }
    auto program = fold_.program;
    index step = 0;
    program.visit([&](const array<index, Fold::rank>& stride, const auto&) { step = stride[along]; });
    const auto first = program.at(here_);
    const auto moved = [&](index rows) {
      auto cursor = first;
      const auto move = [&](auto& start, index) { start += rows * step; };
      cursor.visit(move);
      return cursor;
    };
    here_[along] += 7;
    advance_position(here_, fold_.extents, fold_.kept, Fold::rank - 1);
    return array<decltype(next()), 8>{{moved(0), moved(1), moved(2), moved(3), moved(4), moved(5), moved(6), moved(7)}};
  }

 private:
  const Fold& fold_;
  array<index, Fold::rank> here_;
};

/// Adds a pack of each of `count` rows. Where the access wants a part of it, states behind that stay.
template <class Monoid, class State, class Cursor, class Access, class Slots>
TENON_INLINE void add_pack(State* into, const Cursor* rows, int count, index i, Access access, const Slots& slots) {
  constexpr int width = simd::width_for(Cursor::widest);
  auto lanes = rows[0].template pack<width>(i, access, slots);
  for (int row = 1; row < count; ++row) {
    lanes = Monoid::combine(lanes, rows[row].template pack<width>(i, access, slots));
  }
  if constexpr (!Access::whole) {
    lanes = simd::first_lanes(lanes, simd::broadcast<State, width>(Monoid::template identity<State>()), access.count);
  }
  simd::store<width>(into, Monoid::combine(simd::load<State, width>(into), lanes));
}

/// Adds packs of four rows that lie side by side; returns where these packs end. Meanwhile it prefetches the elements
/// of `later` if it `looks_ahead`; beside costly values, prefetching costs nothing.
template <class Monoid, class State, class Cursor, class Slots>
TENON_INLINE index add_four_rows(State* states, const array<Cursor, 4>& rows, const array<Cursor, 4>& later,
                                 bool looks_ahead, const array<index, 2>& part, const Slots& slots) {
  constexpr int width = simd::width_for(Cursor::widest);
  index i = part[0];
  if (!rows[0].is_adjacent()) return i;
  for (; i + width <= part[1]; i += width) {
    if (cost_of<Cursor> > most_folded_cost || looks_ahead) {
      for (int row = 0; row < 4; ++row) prefetch(later[row], i);
    }
    add_pack<Monoid>(states + (i - part[0]), rows.begin(), 4, i, whole_access<reading::adjacent>{}, slots);
  }
  return i;
}

/// Adds the elements `part` of `count` rows from number `position` on to the states of as many results, in loops as
/// short as can be.
template <class Monoid, class State, class Cursor, class Slots>
TENON_OUT_OF_LINE void add_rows(State* states, const Cursor* rows, int count, const array<index, 2>& part,
                                index position, const Slots& slots) {
  index i = part[0];
  const auto into = [&](index at) { return states + (at - part[0]); };
  if constexpr (folds_in_lanes<Monoid, State, Cursor>) {
    constexpr int width = simd::width_for(Cursor::widest);
    if (rows->is_adjacent()) {
      for (; i + width <= part[1]; i += width) {
        add_pack<Monoid>(into(i), rows, count, i, whole_access<reading::adjacent>{}, slots);
      }
    }
    for (; i + width <= part[1]; i += width) {
      add_pack<Monoid>(into(i), rows, count, i, whole_access<reading::strided>{}, slots);
    }
    if constexpr (simd::has_partial_packs && takes_partial<Cursor> && width > 1) {
      const partial_access<reading::strided> left{part[1] - i};
      if (left.count > 0) add_pack<Monoid>(into(i), rows, count, i, left, slots);
      return;
    }
  }
  for (; i < part[1]; ++i) {
    State value = Monoid::template lift<State>(rows[0].value(i, slots), position);
    for (int row = 1; row < count; ++row) {
      value = Monoid::combine(value, Monoid::template lift<State>(rows[row].value(i, slots), position + row));
    }
    *into(i) = Monoid::combine(*into(i), value);
    if constexpr (folds_in_lanes<Monoid, State, Cursor>) simd::keep_loop_short();
  }
}

/// Whether rows are added eight at a time. The hardware looks ahead along so many; more sources, and costly values,
/// would not leave registers for them.
template <class Fold, class Cursor>
inline constexpr bool adds_eight_rows =
    Fold::rank > 1 &&
    folds_in_lanes<typename Fold::monoid, typename Fold::state, Cursor>&& cost_of<Cursor> <=
            most_folded_cost&& source_count<std::remove_cvref_t<decltype(std::declval<const Fold&>().program)>> ==
        1 &&
    visits_all_reads<std::remove_cvref_t<decltype(std::declval<const Fold&>().program)>>;

/// A pack of each of four rows, combined.
template <class Monoid, int Width, int First, class Cursor, class Slots>
TENON_INLINE auto combined_four(const array<Cursor, 8>& rows, index i, const Slots& slots) {
  constexpr whole_access<reading::adjacent> access;
  auto lanes = rows[First].template pack<Width>(i, access, slots);
  lanes = Monoid::combine(lanes, rows[First + 1].template pack<Width>(i, access, slots));
  lanes = Monoid::combine(lanes, rows[First + 2].template pack<Width>(i, access, slots));
  return Monoid::combine(lanes, rows[First + 3].template pack<Width>(i, access, slots));
}

/// Adds packs of eight rows that lie side by side, as long as there are so many; returns the first row that is left.
/// Results have the bits of rows that are added four at a time. It prefetches what lies two pages further on if it
/// `looks_ahead`.
template <class Monoid, class State, class Walk, class Slots>
index add_eight_rows(State* states, Walk& walk, const array<index, 2>& rows, const array<index, 2>& part,
                     bool looks_ahead, const Slots& slots) {
  const index begin = part[0], end = part[1];  // which no store can change
  index row = rows[0];
  for (; row + 8 <= rows[1]; row += 8) {
    const auto eight = walk.next_eight();
    using cursor = std::remove_cvref_t<decltype(eight[0])>;
    constexpr int width = simd::width_for(cursor::widest);
    constexpr index ahead = 2 * page_bytes / cursor::widest, in_line = line_bytes / cursor::widest;
    if (looks_ahead) {
      for (index i = begin; i < end; i += in_line) {
        for (int each = 0; each < 8; ++each) prefetch(eight[each], i + ahead);
      }
    }
    index i = begin;
    if (eight[0].is_adjacent()) {
      for (; i + width <= end; i += width) {
        State* const into = states + (i - begin);
        const auto first =
            Monoid::combine(simd::load<State, width>(into), combined_four<Monoid, width, 0>(eight, i, slots));
        simd::store<width>(into, Monoid::combine(first, combined_four<Monoid, width, 4>(eight, i, slots)));
      }
    }
    for (int four = 0; i < end && four < 8; four += 4) {
      add_rows<Monoid>(states + (i - begin), eight.begin() + four, 4, {{i, end}}, row + four, slots);
    }
  }
  return row;
}

}  // namespace tenon::detail
