// tenon/host/fold.hpp: one reduction on the host, folded pairwise.
// Extents and strides decide the order, threads never do; errors of sums grow with the logarithm of their length.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/owned_array.hpp>
#include <tenon/device/threads.hpp>
#include <tenon/host/fold_columns.hpp>

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
    if (count_ == 0) return Monoid::template identity<State>();
    int level = 0;
    while (((count_ >> level) & 1) == 0) ++level;
    State result = levels_[level];
    while ((count_ >> ++level) != 0) {
      if (((count_ >> level) & 1) != 0) result = Monoid::combine(levels_[level], result);
    }
    return result;
  }

 private:
  State levels_[48];
  index count_ = 0;
};

namespace detail {

inline constexpr index item_size = 32768;  // elements in one parallel item of a full reduction

/// How many values of a row are folded before they enter the cascade: fewer where they are copied first.
template <class Cursor>
index block_of_row(const Cursor& cursor) {
  return cursor.is_adjacent() ? run_block : staged_row::most_elements;
}

/// [begin, end) of a row, block by block into the cascade.
template <class Monoid, class State, class Cursor>
void fold_row(cascade<Monoid, State>& partial, const Cursor& cursor, const array<index, 2>& part, index first,
              bool is_cached) {
  const index block = block_of_row(cursor);
  for (index begin = part[0]; begin < part[1]; begin += block) {
    const index end = begin + block < part[1] ? begin + block : part[1];
    partial.push(fold_block<Monoid, State>(cursor, begin, end, first, is_cached, no_slots{}));
  }
}

/// Runs `runs[0]` to `runs[1]` - 1 of the result at `here`, of each the elements `part[0]` to `part[1]` - 1.
template <class Fold, class Position, class Slots>
void fold_runs(cascade<typename Fold::monoid, typename Fold::state>& partial, const Fold& fold, Position here,
               const array<index, 2>& runs, const array<index, 2>& part, const Slots& slots) {
  const bool looks_ahead = !is_cached(fold) && part[1] <= run_block;
  for (index run = runs[0]; run < runs[1]; ++run) {
    if (looks_ahead && run + 1 < runs[1]) {
      set_position(here, fold.extents, fold.kept, Fold::rank - 1, run + 1);
      const auto next = fold.program.at(here);
      if (!next.is_adjacent()) prefetch_row(next, part[1]);  // rows that are copied need no prefetching
    }
    set_position(here, fold.extents, fold.kept, Fold::rank - 1, run);
    fold_row(partial, bind_slots(fold.program.at(here), slots), part, run * fold.run_length(), is_cached(fold));
  }
}

/// A result of several runs or blocks.
template <class Fold, class Position, class Slots>
typename Fold::value_type fold_blocks(const Fold& fold, const Position& here, const Slots& slots) {
  cascade<typename Fold::monoid, typename Fold::state> partial;
  fold_runs(partial, fold, here, {{0, fold.run_count()}}, {{0, fold.run_length()}}, slots);
  return Fold::monoid::template finish<typename Fold::value_type>(partial.total(), fold.count);
}

}  // namespace detail

/// The result that starts at `here` in the iteration space; slots have one value for all of it.
template <class Fold, class Position, class Slots>
TENON_INLINE typename Fold::value_type fold_result(const Fold& fold, const Position& here, const Slots& slots) {
  const index length = fold.run_length();
  if (fold.run_count() == 1 && length <= detail::run_block) {
    const auto cursor = bind_slots(fold.program.at(here), slots);
    if (length <= detail::block_of_row(cursor)) {
      const auto total = detail::fold_block<typename Fold::monoid, typename Fold::state>(
          cursor, 0, length, 0, detail::is_cached(fold), no_slots{});
      return Fold::monoid::template finish<typename Fold::value_type>(total, fold.count);
    }
  }
  return detail::fold_blocks(fold, here, slots);
}

namespace detail {

/// `position` with the place `moving` at `number`. What is written place by place and read as a whole would wait for
/// memory, so all places are written, in registers.
template <int Rank>
TENON_INLINE array<index, Rank> moved_to(array<index, Rank> position, int moving, index number) {
  for (int place = 0; place < Rank; ++place) position[place] = place == moving ? number : position[place];
  return position;
}

/// Whether a result is a run of few values, and neighbours lie apart.
template <class Fold>
bool has_short_rows(const Fold& fold, const array<index, Fold::rank>& here) {
  constexpr int last = Fold::rank - 1;
  return fold.kept < last && fold.extents[last - 1] == fold.count &&
         fold.count <= staged_columns<Fold::rank>::most_rows && !fold.program.at(here).is_adjacent();
}

/// Whether few rows of neighbouring results are folded in registers. Rows of one source are a long line for the most
/// part, which fold_rows serves.
template <class Fold>
inline constexpr bool folds_few_rows = [] {
  using cursor = decltype(std::declval<const Fold&>().program.at(array<index, Fold::rank>{}));
  return source_count<decltype(Fold::program)> > 1 &&
         folds_in_lanes<typename Fold::monoid, typename Fold::state, cursor>;
}();

/// The states of the results `part` of all rows, at least one, as by fold_rows: each pack of results stays in a
/// register. Returns where packs end, the last one in part where the machine can.
template <class Fold, class Slots>
index fold_few_rows(const Fold& fold, array<index, Fold::rank> here, const array<index, 2>& part,
                    typename Fold::state* states, const Slots& slots) {
  using monoid = typename Fold::monoid;
  using state = typename Fold::state;
  using cursor = decltype(fold.program.at(here));
  constexpr int width = simd::width_for(cursor::widest);
  const auto fold_pack = [&](index i, auto access) {
    const auto pack_of = [&](index row) {
      here[Fold::rank - 2] = row;
      return fold.program.at(here).template pack<width>(i, access, slots);
    };
    auto lanes = simd::broadcast<state, width>(monoid::template identity<state>());
    for (index row = 0; row < fold.count; row += 4) {
      auto four = pack_of(row);
      for (index next = row + 1; next < fold.count && next < row + 4; ++next) {
        four = monoid::combine(four, pack_of(next));
      }
      lanes = monoid::combine(lanes, four);
    }
    simd::store<width>(states + (i - part[0]), lanes);
  };
  here[Fold::rank - 1] = 0;
  index i = part[0];
  for (; i + width <= part[1]; i += width) fold_pack(i, whole_access<reading::strided>{});
  if constexpr (simd::has_partial_packs && takes_partial<cursor> && width > 1) {
    if (i < part[1]) fold_pack(i, partial_access<reading::strided>{part[1] - i});
    return part[1];
  }
  return i;
}

/// The results of a part whose rows are short: what lies across is copied for some results at a time.
template <class Fold, class Slots>
void fold_short_rows(const Fold& fold, const array<index, Fold::rank>& here,
                     const folded_part<typename Fold::value_type>& to, const Slots& slots) {
  using monoid = typename Fold::monoid;
  using columns = staged_columns<Fold::rank>;
  alignas(line_bytes) typename Fold::state states[columns::most_columns];
  const index size = columns::columns_at_once(fold.count);
  for (index begin = to.part[0]; begin < to.part[1]; begin += size) {
    const index end = begin + size < to.part[1] ? begin + size : to.part[1];
    columns staged(*to.copies, here, fold.count, {{begin, end}});
    Fold some = fold;
    some.program.visit(staged);
    index done = begin;
    if constexpr (folds_few_rows<Fold>) {
      constexpr index few_packs = 8;  // beside more of them, fold_rows looks for rows less often
      if (end - begin <= few_packs * simd::width_for(decltype(some.program.at(here))::widest))
        done = fold_few_rows(some, here, {{begin, end}}, states, slots);
    }
    if (done < end) fold_rows(some, here, {{0, fold.count}}, {{done, end}}, states + (done - begin), slots);
    for (index i = begin; i < end; ++i) {
      to.results[i - to.part[0]] = monoid::template finish<typename Fold::value_type>(states[i - begin], fold.count);
    }
  }
}

/// The results of a part side by side.
template <class Fold, class Slots>
void fold_side_by_side(const Fold& fold, const array<index, Fold::rank>& here,
                       const folded_part<typename Fold::value_type>& to, const Slots& slots) {
  if constexpr (Fold::rank > 1) {
    if (has_short_rows(fold, here)) return fold_short_rows(fold, here, to, slots);
  }
  fold_columns(fold, here, to, slots);
}

}  // namespace detail

/// The slots passed to a fold: an empty type where the fold reads none, so that all statements share its loops.
template <bool ReadsSlots, class Slots>
TENON_INLINE decltype(auto) slots_for([[maybe_unused]] const Slots& slots) {
  if constexpr (ReadsSlots) return (slots);
  else return no_slots{};
}

/// The results of a part along `last_axis` of the result, at `position`. Folds that read slots, one for each result,
/// are folded side by side.
template <class Fold, class Position, class Slots>
void fold_results(const Fold& fold, const Position& position, int last_axis,
                  const detail::folded_part<typename Fold::value_type>& to, const Slots& slots) {
  auto here = fold.start_of(position);
  if (fold.count == 0) {  // of nothing, which may have no address
    cascade<typename Fold::monoid, typename Fold::state> nothing;
    const auto result = Fold::monoid::template finish<typename Fold::value_type>(nothing.total(), 0);
    for (index i = 0; i < to.part[1] - to.part[0]; ++i) to.results[i] = result;
  } else if (Fold::reads_slots || fold.along_kept) {
    detail::fold_side_by_side(fold, here, to, slots);
  } else if constexpr (!Fold::reads_slots) {
    int moving = 0;
    while (moving < fold.kept && fold.in_result[moving] != last_axis) ++moving;
    for (index i = to.part[0]; i < to.part[1]; ++i) {
      to.results[i - to.part[0]] = fold_result(fold, detail::moved_to(here, moving, i), slots);
    }
  }
}

namespace detail {

/// The items of one long reduction, whatever its type.
class folded_items {
 public:
  /// Folds one item.
  virtual void run(index item) = 0;
  index count() const { return count_; }

 protected:
  index count_ = 0;
};

/// Runs the items of several reductions, each item of all of them, so that what they read in common is read once.
template <int Count>
void run_items(const array<folded_items*, Count>& reductions) {
  index most = 0;
  for (const folded_items* each : reductions) most = each->count() > most ? each->count() : most;
  parallel_for(most, 4, [&](index first, index last) {  // fewer items are folded before a second thread wakes
    for (index item = first; item < last; ++item) {
      for (folded_items* each : reductions) {
        if (item < each->count()) each->run(item);
      }
    }
  });
}

}  // namespace detail

/// A full reduction. Threads share the items of a long one; an item is several whole runs, or a part of one run. A
/// short reduction has no items.
template <class Fold>
class item_fold final : public detail::folded_items {
 public:
  item_fold(const Fold& fold, bool is_wanted) : fold_(&fold) {
    const index length = fold.run_length();
    if (!is_wanted || fold.count <= detail::item_size) return;
    if (length >= detail::item_size) parts_ = (length + detail::item_size - 1) / detail::item_size;
    else runs_ = detail::item_size / length;
    count_ = (fold.run_count() + runs_ - 1) / runs_ * parts_;
    states_ = detail::owned_array<state>(static_cast<std::size_t>(count_));
  }
  void run(index item) override {
    const index run = item / parts_ * runs_, begin = item % parts_ * detail::item_size;
    const index runs = fold_->run_count(), length = fold_->run_length();
    const index end = parts_ == 1 || begin + detail::item_size > length ? length : begin + detail::item_size;
    cascade<typename Fold::monoid, state> partial;
    detail::fold_runs(partial, *fold_, array<index, Fold::rank>{}, {{run, run + runs_ < runs ? run + runs_ : runs}},
                      {{begin, end}}, no_slots{});
    states_[static_cast<std::size_t>(item)] = partial.total();
  }
  /// The result, once all items are folded.
  typename Fold::value_type total() const {
    if (count_ == 0) return fold_result(*fold_, array<index, Fold::rank>{}, no_slots{});
    cascade<typename Fold::monoid, state> total;
    for (index item = 0; item < count_; ++item) total.push(states_[static_cast<std::size_t>(item)]);
    return Fold::monoid::template finish<typename Fold::value_type>(total.total(), fold_->count);
  }

 private:
  using state = typename Fold::state;
  const Fold* fold_;
  index parts_ = 1, runs_ = 1;  // items of a run, or runs of an item
  detail::owned_array<state> states_;
};

}  // namespace tenon
