// tenon/host/fold_columns.hpp: neighbouring results, folded side by side.
// Rows of values are added to a row of results as they lie in memory; blocks of rows are combined as a balanced tree.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <tenon/device/threads.hpp>
#include <tenon/host/added_rows.hpp>
#include <tenon/host/joined_rows.hpp>
#include <tenon/plan/iterate.hpp>

namespace tenon::detail {

inline constexpr index beyond_caches = index{1} << 20;  // values that no cache holds between two statements
inline constexpr index lane_block = 4096;               // neighbouring results that are at most folded side by side
inline constexpr index least_lane_block = 64;           // neighbouring results that there is memory for at least
inline constexpr index least_shared_values = 65536;     // of fewer, a second thread costs more than it saves

template <int Rank>
bool is_cached(const reduction_space<Rank>& space) {
  return space.total <= beyond_caches;
}

/// Combines the states at `right` with as many at `left`.
template <class Monoid, class State>
[[gnu::noinline]] void combine_states(State* left, const State* right, index count) {
  for (index i = 0; i < count; ++i) left[i] = Monoid::combine(left[i], right[i]);
}

/// Combines states of `width` results each as a balanced tree: a stack of partial results, whose upper ones are
/// combined when they hold equally many.
template <class Monoid, class State>
class cascade_of_rows {
 public:
  static_assert(std::is_trivially_copyable_v<State>);
  /// For at most `most` rows, in a block of `bytes_for`, or where that is null in memory of its own.
  cascade_of_rows(index width, index most, std::byte* block) : width_(width), memory_(bytes_for(width, most), block) {
    for (index level = 0; level < levels_for(most); ++level) {
      levels_[level] = reinterpret_cast<State*>(memory_.take(width, sizeof(State)));
    }
  }
  static index bytes_for(index width, index most) {
    return levels_for(most) * staged_memory::bytes_for(width, sizeof(State));
  }
  /// Where the states of the next row are made; they count from `push` on.
  State* next() { return levels_[depth_]; }
  void push() {
    ++depth_;
    for (index carry = count_++; (carry & 1) != 0; carry >>= 1) combine_upper();
  }
  /// All rows combined; at least one.
  State* total() {
    while (depth_ > 1) combine_upper();
    return levels_[0];
  }

 private:
  static index levels_for(index most) {
    index levels = 1;
    for (index rest = most; rest > 1; rest = (rest + 1) / 2) ++levels;
    return levels;
  }
  void combine_upper() {
    --depth_;
    combine_states<Monoid>(levels_[depth_ - 1], levels_[depth_], width_);
  }

  index width_, count_ = 0;
  int depth_ = 0;
  State* levels_[48];
  staged_memory memory_;
};

/// The states of the results `part` of the rows `rows[0]` to `rows[1]` - 1.
template <class Fold, class Slots>
void fold_rows(const Fold& fold, const array<index, Fold::rank>& here, const array<index, 2>& rows,
               const array<index, 2>& part, typename Fold::state* states, const Slots& slots) {
  using monoid = typename Fold::monoid;
  using state = typename Fold::state;
  for (index i = 0; i < part[1] - part[0]; ++i) states[i] = monoid::template identity<state>();
  if (rows[0] == rows[1]) return;
  row_walk<Fold> walk(fold, here, rows[0]);
  using cursor = decltype(walk.next());
  index begin = part[0];
  if constexpr (folds_states_in_lanes<monoid, cursor, Slots>) {
    begin = fold_state_packs<monoid, cursor>(states, walk, rows[1] - rows[0], rows[0], part, slots);
    if (begin == part[1]) return;
  }
  const index uncached_bytes = is_cached(fold) ? page_bytes : (part[1] - part[0]) * cursor::widest;
  index row = rows[0];
  if constexpr (adds_eight_rows<Fold, cursor>) {
    const bool looks_ahead = uncached_bytes < narrow_bytes && has_flat_rows(fold);
    row = add_eight_rows<monoid>(states, walk, rows, part, looks_ahead, slots);
  }
  auto four = walk.next_four();
  constexpr bool in_fours = folds_in_lanes<monoid, state, cursor>;
  for (; row < rows[1]; row += 4) {
    const auto later = walk.next_four();
    const int count = rows[1] - row < 4 ? static_cast<int>(rows[1] - row) : 4;
    index i = begin;
    if constexpr (in_fours) {
      if (count == 4) i = add_four_rows<monoid>(states, four, later, uncached_bytes < page_bytes, part, slots);
    }
    if (i < part[1]) add_rows<monoid>(states + (i - part[0]), four.begin(), count, {{i, part[1]}}, row, slots);
    ::new (static_cast<void*>(&four)) decltype(four)(later);  // functions of the user's may be copied, not assigned
  }
}

/// The rows of a result: how many there are, how many of them count as one, and the blocks in which they are folded.
struct blocks_of_rows {
  index count, joined = 1;

  index size() const { return row_block * joined; }
  /// How many blocks there are, at least one.
  index blocks() const { return count == 0 ? 1 : (count + size() - 1) / size(); }
  /// The first row of a block and the end of its rows.
  array<index, 2> rows_of(index block) const {
    const index first = block * size();
    return {{first, first + size() < count ? first + size() : count}};
  }
};

/// Whether rows of a fold may be joined: values are folded in any order, and all of them move by strides.
template <class Fold, class Slots>
inline constexpr bool may_join_rows = [] {
  if constexpr (Fold::rank < 2 || Fold::reads_slots || finds_positions<typename Fold::monoid>) {
    return false;
  } else {
    using cursor = decltype(std::declval<const Fold&>().program.at(array<index, Fold::rank>{}));
    return visits_all_reads<std::remove_cvref_t<decltype(std::declval<const Fold&>().program)>> &&
           (folds_in_lanes<typename Fold::monoid, typename Fold::state, cursor> ||
            folds_states_in_lanes<typename Fold::monoid, cursor, Slots>);
  }
}();

/// The rows of a fold whose results are `width` wide. Narrow ones are joined, as packs of one would be half empty: that
/// depends on extents alone.
template <class Fold, class Slots>
blocks_of_rows rows_of_results(const Fold& fold, index width) {
  blocks_of_rows rows{fold.count};
  if constexpr (may_join_rows<Fold, Slots>) {
    constexpr int last = Fold::rank - 1;
    constexpr index widest = std::is_same_v<typename Fold::monoid, variance_monoid> ? 16 : least_lane_block;
    if (width != fold.extents[last] || fold.kept == last || fold.extents[last - 1] != fold.count) return rows;
    while (2 * rows.joined * width <= widest && 8 * rows.joined <= fold.count) rows.joined *= 2;
  }
  return rows;
}

/// As fold_rows, for a set of states for each of the rows that count as one. Rows that are left beside whole sets are
/// added last, so that the order depends on extents alone.
template <class Fold, class Slots>
void fold_joined_rows(const Fold& fold, const array<index, Fold::rank>& here, const array<index, 2>& rows, index joined,
                      index width, typename Fold::state* states, const Slots& slots) {
  const index first = rows[0] / joined, end = rows[1] / joined, left = rows[1] % joined;
  const index together = has_flat_rows(fold) ? joined : 1;
  alignas(line_bytes) typename Fold::state set_states[2 * least_lane_block];  // packs reach beyond a set
  for (index set = 0; set < joined; set += together) {
    const Fold some = every_row(fold, joined, set);
    fold_rows(some, here, {{first, end}}, {{0, together * width}}, set_states, slots);
    const index wanted = left - set < together ? left - set : together;
    if (wanted > 0) {
      const auto last = row_walk<Fold>(some, here, end).next();
      add_rows<typename Fold::monoid>(set_states, &last, 1, {{0, wanted * width}}, 0, slots);
    }
    for (index i = 0; i < together * width; ++i) states[set * width + i] = set_states[i];
  }
}

/// The same where rows are shorter than packs and do not lie side by side: they are copied so that they do.
template <class Fold, class Slots>
[[gnu::noinline]] bool fold_copied_rows(Fold fold, const array<index, Fold::rank>& here, const array<index, 2>& rows,
                                        index joined, index width, typename Fold::state* states, const Slots& slots) {
  staged_rows<Fold::rank> staged(here, rows, width);
  fold.program.visit(staged);
  if (staged.fits()) fold_joined_rows(fold, here, rows, joined, width, states, slots);
  return staged.fits();
}

/// Neighbouring results of a fold, from the first number to before the second: where they go, room for copies of short
/// rows, and memory for a cascade of rows and for the states of blocks of rows, each null where there is none.
template <class T>
struct folded_part {
  array<index, 2> part;
  T* results;
  column_copies* copies;
  std::byte *cascade = nullptr, *blocks = nullptr;
};

/// The memory in which threads fold neighbouring results, enough for the largest of several folds. It is allocated
/// before any result is written.
class column_memory {
 public:
  /// Threads share the rows of a result where there is one part.
  template <class... Folds>
  column_memory(index parts, index width, const Folds&... folds) {
    const bool shares = parts == 1 && thread_count() > 1;
    const array<index, 2> bytes{
        {most_of(cascade_bytes(folds, width)...), shares ? most_of(block_bytes(folds, width)...) : 0}};
    cascades_ = staged_memory::blocks_for(parts, bytes[0]), blocks_ = staged_memory::blocks_for(1, bytes[1]);
  }
  template <class T>
  folded_part<T> part(const array<index, 2>& part, T* results, column_copies& copies, index thread) const {
    return {part, results, &copies, cascades_.block(thread), blocks_.block(0)};
  }
  /// Whether `width` results of `count` rows each have so many that threads share them.
  static bool shares_rows(const blocks_of_rows& rows, index width) {
    return rows.blocks() > 1 && width * rows.count >= least_shared_values;
  }

 private:
  template <class Fold>
  static index block_bytes(const Fold& fold, index width) {
    const blocks_of_rows rows{fold.count};
    return fold.along_kept && shares_rows(rows, width)
               ? rows.blocks() * staged_memory::bytes_for(width, sizeof(typename Fold::state))
               : 0;
  }
  template <class... Bytes>
  static index most_of(Bytes... bytes) {
    index most = 0;
    ((most = bytes > most ? bytes : most), ...);
    return most;
  }
  template <class Fold>
  static index cascade_bytes(const Fold& fold, index width) {
    using cascade = cascade_of_rows<typename Fold::monoid, typename Fold::state>;
    return fold.along_kept ? cascade::bytes_for(width, blocks_of_rows{fold.count}.blocks()) : 0;
  }

  line_blocks cascades_, blocks_;
};

/// A fold without its type: `set(fold, states, rows)` folds a block of rows.
template <class State>
struct block_setter {
  const void* fold;
  void (*set)(const void* fold, State* states, const array<index, 2>& rows);
};
template <class State, class SetBlock>
block_setter<State> setter_of(const SetBlock& set_block) {
  return {&set_block, [](const void* fold, State* states, const array<index, 2>& rows) {
            (*static_cast<const SetBlock*>(fold))(states, rows);
          }};
}

/// The results of a part, each of `rows.count` rows, whose blocks `setter` folds. All folds of a monoid share it.
template <class Monoid, class State, class Value>
[[gnu::noinline]] void combine_blocks(const folded_part<Value>& to, const blocks_of_rows& rows,
                                      const block_setter<State>& setter) {
  const index width = to.part[1] - to.part[0];
  cascade_of_rows<Monoid, State> partial(width * rows.joined, rows.blocks(), to.cascade);
  for (index block = 0; block < rows.blocks(); ++block) {
    setter.set(setter.fold, partial.next(), rows.rows_of(block));
    partial.push();
  }
  State* const total = partial.total();
  for (index half = rows.joined / 2; half > 0; half /= 2) {
    combine_states<Monoid>(total, total + half * width, half * width);
  }
  for (index i = 0; i < width; ++i) to.results[i] = Monoid::template finish<Value>(total[i], rows.count);
}

/// The same; threads share the blocks, unless this runs in a parallel loop already.
template <class Monoid, class State, class Value>
[[gnu::noinline]] void combine_shared_blocks(const folded_part<Value>& to, const blocks_of_rows& rows,
                                             const block_setter<State>& setter) {
  const index width = to.part[1] - to.part[0], blocks = rows.blocks();
  if (thread_count() == 1 || !column_memory::shares_rows(rows, width)) {
    return combine_blocks<Monoid>(to, rows, setter);
  }
  const index bytes = staged_memory::bytes_for(width * rows.joined, sizeof(State));
  staged_memory memory(blocks * bytes, to.blocks);
  std::byte* const begin = memory.take(blocks * bytes, 1);
  const auto states_of = [&](index block) { return reinterpret_cast<State*>(begin + block * bytes); };
  parallel_for(blocks, 1, [&](index first, index last) {
    for (index block = first; block < last; ++block) setter.set(setter.fold, states_of(block), rows.rows_of(block));
  });
  const auto copy_block = [&](State* states, const array<index, 2>& some) {
    const State* const block = states_of(some[0] / rows.size());
    for (index i = 0; i < width * rows.joined; ++i) states[i] = block[i];
  };
  combine_blocks<Monoid>(to, rows, setter_of<State>(copy_block));
}

/// The results of a part along the last kept axis, the first of which is at `here`.
template <class Fold, class Slots>
void fold_columns(const Fold& fold, const array<index, Fold::rank>& here,
                  const folded_part<typename Fold::value_type>& to, const Slots& slots) {
  using state = typename Fold::state;
  const index width = to.part[1] - to.part[0];
  const auto rows = rows_of_results<Fold, Slots>(fold, width);
  const auto set_block = [&](state* states, const array<index, 2>& some) {
    if constexpr (may_join_rows<Fold, Slots>) {
      using cursor = decltype(fold.program.at(here));
      const bool copies = width < simd::width_for(cursor::widest) && rows.joined > 1 && !has_flat_rows(fold);
      if (copies && fold_copied_rows(fold, here, some, rows.joined, width, states, slots)) return;
      if (rows.joined > 1) return fold_joined_rows(fold, here, some, rows.joined, width, states, slots);
    }
    fold_rows(fold, here, some, to.part, states, slots);
  };
  combine_shared_blocks<typename Fold::monoid>(to, rows, setter_of<state>(set_block));
}

}  // namespace tenon::detail
