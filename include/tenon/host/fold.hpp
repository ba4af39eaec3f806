// tenon/host/fold.hpp: one reduction on the host, folded pairwise.
// The order of combination depends on extents alone, never on threads, and the error of sums grows with the logarithm
// of their length.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/threads.hpp>
#include <tenon/expr/reduce.hpp>
#include <tenon/plan/access.hpp>
#include <vector>

namespace tenon {

/// Combines a sequence of states as a balanced tree, in logarithmic space (a binary counter of partial states).
template <class Monoid, class State>
class cascade {
 public:
  void push(State state) {
    int level = 0;
    for (index carry = count_++; (carry & 1) != 0; carry >>= 1) state = Monoid::combine(levels_[level++], state);
    levels_[level] = state;
  }
  State total() const {
    State result = Monoid::template identity<State>();
    for (int level = 0; (count_ >> level) != 0; ++level) {
      if (((count_ >> level) & 1) != 0) result = Monoid::combine(levels_[level], result);
    }
    return result;
  }

 private:
  State levels_[48];
  index count_ = 0;
};

namespace detail {

inline constexpr index run_block = 1024;    // elements folded in lanes before they enter the cascade
inline constexpr index lane_block = 64;     // neighbouring results that are folded side by side
inline constexpr index column_block = 128;  // values folded into one result before they enter the cascade
inline constexpr index item_size = 32768;   // elements in one parallel item of a full reduction

template <class Monoid, class State, class Cursor>
inline constexpr bool folds_in_lanes = is_lanewise<Monoid> && std::is_same_v<State, decltype(std::declval<Cursor>().value(
                                                                                       0, no_slots{}))>;

/// [begin, end) of one row; `first` is the position of the row's start among the reduced.
template <class Monoid, class State, class Cursor, class Slots>
State fold_block(const Cursor& cursor, index begin, index end, index first, const Slots& slots) {
  State result = Monoid::template identity<State>();
  index i = begin;
  if constexpr (folds_in_lanes<Monoid, State, Cursor>) {
    constexpr int width = simd::native_width<State>;
    if (end - begin >= 4 * width) {
      auto a = cursor.template pack<width>(i, slots), b = cursor.template pack<width>(i + width, slots);
      auto c = cursor.template pack<width>(i + 2 * width, slots), d = cursor.template pack<width>(i + 3 * width, slots);
      for (i += 4 * width; i + 4 * width <= end; i += 4 * width) {
        a = Monoid::combine(a, cursor.template pack<width>(i, slots));
        b = Monoid::combine(b, cursor.template pack<width>(i + width, slots));
        c = Monoid::combine(c, cursor.template pack<width>(i + 2 * width, slots));
        d = Monoid::combine(d, cursor.template pack<width>(i + 3 * width, slots));
      }
      const auto lanes = Monoid::combine(Monoid::combine(a, b), Monoid::combine(c, d));
      result = simd::reduce(lanes, [](auto left, auto right) { return Monoid::combine(left, right); });
    }
  }
  for (; i < end; ++i) {
    result = Monoid::combine(result, Monoid::template lift<State>(cursor.value(i, slots), first + i));
  }
  return result;
}

/// [begin, end) of a row, block by block into the cascade.
template <class Monoid, class State, class Cursor, class Slots>
void fold_row(cascade<Monoid, State>& partial, const Cursor& cursor, const array<index, 2>& part, index first,
              const Slots& slots) {
  for (index begin = part[0]; begin < part[1]; begin += run_block) {
    const index end = begin + run_block < part[1] ? begin + run_block : part[1];
    partial.push(fold_block<Monoid, State>(cursor, begin, end, first, slots));
  }
}

/// States of neighbouring results.
template <class Monoid, class State>
struct lanes_of {
  State state[lane_block];

  template <class>
  static lanes_of identity() {
    lanes_of result;
    for (State& each : result.state) each = Monoid::template identity<State>();
    return result;
  }
  static lanes_of combine(const lanes_of& left, const lanes_of& right) {
    lanes_of result;
    for (int i = 0; i < lane_block; ++i) result.state[i] = Monoid::combine(left.state[i], right.state[i]);
    return result;
  }
  template <class Cursor>
  TENON_INLINE void add(const Cursor& cursor, index begin, index length, index position) {
    index i = 0;
    if constexpr (folds_in_lanes<Monoid, State, Cursor>) {
      constexpr int width = simd::native_width<State>;
      for (; i + width <= length; i += width) {
        const auto before = simd::load<State, width>(state + i);
        simd::store<width>(state + i, Monoid::combine(before, cursor.template pack<width>(begin + i, no_slots{})));
      }
    }
    for (; i < length; ++i) {
      const auto value = cursor.value(begin + i, no_slots{});
      state[i] = Monoid::combine(state[i], Monoid::template lift<State>(value, position));
    }
  }
};

}  // namespace detail

/// One reduction over an iteration space whose axes were permuted: first the kept axes, then the reduced ones; when
/// `along_kept`, the last kept axis comes last instead, and neighbouring results are folded side by side.
template <class Reduction, int Rank, class Program>
struct host_fold {
  using monoid = typename Reduction::monoid;
  using state = typename Reduction::state;
  using value_type = compute_type<typename Reduction::element>;

  Program program;
  array<index, Rank> extents;
  array<int, Rank> axis_of;  // which axis of the operand each iteration axis is
  int kept;                  // number of kept axes in front
  bool along_kept;
  index count;  // values per result

  /// Results `begin` to `begin + length` - 1 along `last_axis` of the operand at `position` (in the operand's axes).
  void fold(const array<index, Rank>& position, int last_axis, index begin, index length, value_type* results) const {
    array<index, Rank> here{};
    for (int j = 0; j < Rank; ++j) here[j] = position[axis_of[j]];
    if (along_kept) {
      here[Rank - 1] = 0;
      fold_columns(here, begin, length, results);
    } else {
      int moving = 0;
      while (moving < kept && axis_of[moving] != last_axis) ++moving;
      for (index i = 0; i < length; ++i) {
        if (moving < kept) here[moving] = begin + i;
        cascade<monoid, state> partial;
        fold_rows(partial, here, {{0, count_between(extents, kept, Rank - 1)}}, {{0, row_length()}});
        results[i] = monoid::template finish<value_type>(partial.total(), count);
      }
    }
  }

  /// The single result of a full reduction, in parallel over items of whole rows or parts of one row.
  value_type fold_everything() const {
    const index length = row_length(), rows = length == 0 ? 0 : count_between(extents, 0, Rank - 1);
    const index rows_per_item = length >= detail::item_size || length == 0 ? 1 : detail::item_size / length;
    const index parts = length <= detail::item_size ? 1 : (length + detail::item_size - 1) / detail::item_size;
    const index part = parts == 1 ? length : detail::item_size;
    std::vector<state> states(static_cast<std::size_t>((rows + rows_per_item - 1) / rows_per_item * parts));
    parallel_for(static_cast<index>(states.size()), 1, [&](index first, index last) {
      for (index item = first; item < last; ++item) {
        const index row = item / parts * rows_per_item, begin = item % parts * part;
        cascade<monoid, state> partial;
        fold_rows(partial, {}, {{row, row + rows_per_item < rows ? row + rows_per_item : rows}},
                  {{begin, begin + part < length ? begin + part : length}});
        states[static_cast<std::size_t>(item)] = partial.total();
      }
    });
    cascade<monoid, state> total;
    for (const state& each : states) total.push(each);
    return monoid::template finish<value_type>(total.total(), count);
  }

 private:
  index row_length() const { return Rank == 0 ? 1 : extents[Rank - 1]; }

  void fold_rows(cascade<monoid, state>& partial, array<index, Rank> here, const array<index, 2>& rows,
                 const array<index, 2>& part) const {
    for (index row = rows[0]; row < rows[1]; ++row) {
      set_position(here, extents, kept, Rank - 1, row);
      detail::fold_row(partial, program.at(here), part, row * row_length(), no_slots{});
    }
  }
  void fold_columns(array<index, Rank> here, index begin, index length, value_type* results) const {
    using lanes = detail::lanes_of<monoid, state>;
    cascade<lanes, lanes> partial;
    for (index first = 0; first < count; first += detail::column_block) {
      const index last = first + detail::column_block < count ? first + detail::column_block : count;
      lanes sums = lanes::template identity<lanes>();
      for (index row = first; row < last; ++row) {
        set_position(here, extents, kept, Rank - 1, row);
        sums.add(program.at(here), begin, length, row);
      }
      partial.push(sums);
    }
    const lanes total = partial.total();
    for (index i = 0; i < length; ++i) results[i] = monoid::template finish<value_type>(total.state[i], count);
  }
};

}  // namespace tenon
