// tenon/host/window_rows.hpp: the rows of values that rows of results of small windows fold.
// Rows move by steps. Those that may reach beside their operand know which part of their lines sees it.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <tenon/host/fold_block.hpp>
#include <tenon/plan/iterate.hpp>

namespace tenon::detail {

#if !defined(__CUDACC__)

/// How far sources move from one row to the next.
template <int Sources>
struct row_steps {
  array<index, Sources> of_source;

  template <class Cursor>
  TENON_INLINE void move(Cursor& row, index count) const {
    int source = 0;
    const auto add = [&](auto& start, index&) __attribute__((always_inline)) { start += count * of_source[source++]; };
    visit_elements(row, add);
  }
};
/// How far the sources of a program move with its position.
template <class Program, int Rank>
row_steps<source_count<Program>> steps_with(Program program, const array<index, Rank>& move) {
  row_steps<source_count<Program>> result;
  int source = 0;
  program.visit([&](const array<index, Rank>& stride, const auto&) {
    index step = 0;
    for (int axis = 0; axis < Rank; ++axis) step += move[axis] * stride[axis];
    result.of_source[source++] = step;
  });
  return result;
}

/// Folds the elements `part[0]` to `part[1]` - 1 of rows of values into a line, or combines them with it. So it does
/// `count` times, each time of rows further on and into another line. Out of line, so that its loop has the registers
/// to itself.
template <class Monoid, bool Combines, class State, class Cursor, int Rows, int Sources>
[[gnu::noinline]] void fold_across(const array<Cursor, Rows>& first_rows, const row_steps<Sources>& shared_steps,
                                   index count, const array<index, 2>& part, State* first_line, index pitch) {
  constexpr int width = simd::width_for(Cursor::widest);
  auto rows = first_rows;
  const auto steps = shared_steps;
  State* line = numbered_from(first_line, part[0]);
  const index begin = part[0], end = part[1];
  const auto for_each_row = [&](const auto& visit) __attribute__((always_inline)) {
    for_each_index<Rows>([&](auto row) __attribute__((always_inline)) { visit(rows[row.value]); });
  };
  const auto folded = [&](index i, auto old, auto values_of) __attribute__((always_inline)) {
    auto total = values_of(rows[0]);
    if constexpr (Combines) total = Monoid::combine(old(line + i), total);
    for_each_index<Rows - 1>([&](auto row) __attribute__((always_inline)) {
      total = Monoid::combine(total, values_of(rows[row.value + 1]));
    });
    return total;
  };
  const auto pack = [&](index i, auto access) __attribute__((always_inline)) {
    for_each_row([&](const Cursor& row)
                     __attribute__((always_inline)) { prefetch(row, i + 2 * elements_ahead<State>); });
    return folded(
        i, [&](const State* from) __attribute__((always_inline)) { return simd::load<State, width>(from); },
        [&](const Cursor& row)
            __attribute__((always_inline)) { return row.template pack<width>(i, access, no_slots{}); });
  };
  for (; count > 0; --count, line += pitch) {
    index i = begin;
    for (; i + width <= end; i += width) simd::store<width>(line + i, pack(i, whole_access<reading::adjacent>{}));
    if constexpr (simd::has_partial_packs && takes_partial<Cursor>) {
      if (i < end) simd::store_part<width>(line + i, pack(i, partial_access<reading::adjacent>{end - i}), end - i);
    } else {
      for (; i < end; ++i) {
        line[i] = folded(
            i, [&](const State* from) { return *from; },
            [&](const Cursor& row) { return static_cast<State>(row.value(i, no_slots{})); });
      }
    }
    if constexpr (Sources > 0) {
      for_each_row([&](Cursor& row) __attribute__((always_inline)) { steps.move(row, 1); });
    }
  }
}

/// The rows of values that a row of results folds; they move from row to row.
template <class Fold>
class window_rows {
 public:
  using state = typename Fold::state;

  explicit window_rows(const Fold& fold) : fold_(fold), rows_(rows_at(fold, here_)) {
    auto program = fold.program;
    int source = 0;
    program.visit([&](const auto& stride, const auto&) {
      steps_.of_source[source] = stride[moving];
      to_plane_.of_source[source++] = stride[plane] - fold.extents[moving] * stride[moving];
    });
  }
  void move_to(index row) {
    if (row == row_) return;
    row_ = row;
    set_position(here_, fold_.extents, 0, Fold::kept - 1, row);
    restart();
  }
  /// How many rows of results have the same step to the next, the present one among them.
  index in_step() const { return Fold::kept < 2 ? 1 : fold_.extents[moving] - here_[moving]; }
  /// Moves to the row `count` further on, at most `in_step()`; behind the last row there are no values.
  void advance(index count) {
    if constexpr (Fold::kept > 1) {
      row_ += count, here_[moving] += count;
      const bool leaves = here_[moving] == fold_.extents[moving];
      if (leaves) here_[moving] = 0;
      if (!leaves || (plane < moving && ++here_[plane] < fold_.extents[plane])) {
        for (auto& row : rows_) {
          steps_.move(row, count);
          if (leaves) to_plane_.move(row, 1);
        }
      } else if (plane > 0) {  // else there are no more rows
        here_[plane] = 0;
        advance_position(here_, fold_.extents, 0, plane);
        restart();
      }
    }
  }
  /// Says which elements of rows are folded from now on, into up to `count` lines that lie `pitch` apart.
  void begin(const array<index, 2>& part, [[maybe_unused]] state* lines, index pitch, [[maybe_unused]] index count) {
    part_ = part, pitch_ = pitch;
  }
  /// Folds the lines of this row of results and the next ones, at most `most` and `in_step()`. Returns how many.
  index fold(index most, state* line) const {
    fold_across<typename Fold::monoid, false>(rows_, steps_, most, part_, line, pitch_);
    return most;
  }
  const array<typename Fold::cursor, Fold::rows>& all() const { return rows_; }

 protected:
  const auto& steps() const { return steps_; }

  array<index, 2> part_{};
  index pitch_ = 0;

 private:
  using position = decltype(Fold::extents);
  using row_cursors = array<typename Fold::cursor, Fold::rows>;
  static constexpr int moving = Fold::kept < 2 ? 0 : Fold::kept - 2, plane = moving == 0 ? 0 : moving - 1;

  void restart() {  // functions may be copied, not assigned
    ::new (static_cast<void*>(&rows_)) row_cursors(rows_at(fold_, here_));
  }
  static row_cursors rows_at(const Fold& fold, position here) {
    const auto at = [&](index row) {
      set_position(here, fold.extents, Fold::kept, position::size() - 1, row);
      return fold.program.at(here);
    };
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return row_cursors{{at(I)...}};
    }(std::make_integer_sequence<int, Fold::rows>{});
  }

  const Fold& fold_;
  position here_{};
  index row_ = 0;
  row_steps<source_count<decltype(Fold::program)>> steps_, to_plane_;
  row_cursors rows_;
};

/// The same of windows that may reach beside their operand. All lines do so alike along their own axis.
template <class Fold>
class placed_rows : public window_rows<Fold> {
 public:
  using state = typename Fold::state;

  explicit placed_rows(const Fold& fold)
      : window_rows<Fold>(fold),
        map_(fold.program.map),
        operand_(fold.program.operand),
        apart_(map_.distance(this->steps().of_source)),
        steps_(steps_with(operand_, apart_)) {}

  /// The same as that of `window_rows`. Beside the operand elements are the same in all lines: they are written once.
  void begin(const array<index, 2>& part, state* lines, index pitch, index count) {
    if (part == this->part_ && pitch == this->pitch_) return;
    window_rows<Fold>::begin(part, lines, pitch, count);
    seen_ = map_.part_inside(place(0), part);
    state beside = outside();
    for (int row = 1; row < Fold::rows; ++row) beside = monoid::combine(beside, outside());
    for (index number = 0; number < count; ++number) {
      state* const line = numbered_from(lines + number * pitch, part[0]);
      for (index i = part[0]; i < seen_[0]; ++i) line[i] = beside;
      for (index i = seen_[1]; i < part[1]; ++i) line[i] = beside;
    }
  }
  /// Folds as many as see the operand in all their rows, or one, each of whose rows does or does not.
  index fold(index most, state* line) const {
    if (seen_[0] == seen_[1]) return most;
    line += seen_[0] - this->part_[0];
    array<index, Fold::rows> inside;
    index all = most;
    for (int row = 0; row < Fold::rows; ++row) {
      inside[row] = map_.lines_inside(place(row), apart_, most);
      all = inside[row] < all ? inside[row] : all;
    }
    if (all == 0) {
      for (int row = 0; row < Fold::rows; ++row) combine_one(row, inside[row] > 0, line);
      return 1;
    }
    [&]<int... I>(std::integer_sequence<int, I...>) {
      fold_across<monoid, false>(array<cursor, Fold::rows>{{operand_at(I)...}}, steps_, all, length(), line,
                                 this->pitch_);
    }(std::make_integer_sequence<int, Fold::rows>{});
    return all;
  }

 private:
  using monoid = typename Fold::monoid;
  using map_type = decltype(Fold::program.map);
  using operand_type = decltype(Fold::program.operand);
  using place_type = decltype(std::declval<const map_type&>().place(std::declval<typename Fold::cursor>().run.first));
  using cursor = decltype(std::declval<const operand_type&>().at(place_type{}));

  state outside() const { return static_cast<state>(map_.outside); }
  place_type place(int row) const { return map_.place(this->all()[row].run.first); }
  /// The operand along the part of a line that sees it.
  cursor operand_at(int row) const {
    auto first = place(row);
    first[place_type::size() - 1] += seen_[0];
    return operand_.at(first);
  }
  array<index, 2> length() const { return {{0, seen_[1] - seen_[0]}}; }
  void combine_one(int row, bool is_inside, state* line) const {
    if (is_inside) {
      const array<cursor, 1> values{{operand_at(row)}};
      if (row == 0) fold_across<monoid, false>(values, steps_, 1, length(), line, 0);
      else fold_across<monoid, true>(values, steps_, 1, length(), line, 0);
    } else {
      for (index i = 0; i < length()[1]; ++i) line[i] = row == 0 ? outside() : monoid::combine(line[i], outside());
    }
  }

  map_type map_;
  operand_type operand_;
  place_type apart_;
  row_steps<source_count<operand_type>> steps_;
  array<index, 2> seen_{};
};

/// Whether windows may reach beside their operand.
template <class Cursor>
concept reaches_beside = requires(const Cursor& row) { row.map.place(row.run.first); };

template <class Fold>
using window_rows_of = std::conditional_t<reaches_beside<typename Fold::cursor>, placed_rows<Fold>, window_rows<Fold>>;

#endif

}  // namespace tenon::detail
