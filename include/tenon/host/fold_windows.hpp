// tenon/host/fold_windows.hpp: reductions of small windows, neighbouring results side by side.
// Each row of results has a line. Elements are folded across rows into it; a result folds a few elements of the line.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/placed_windows.hpp>
#include <tenon/host/fold_block.hpp>
#include <tenon/host/window_results.hpp>
#include <tenon/host/window_rows.hpp>

namespace tenon::detail {

inline constexpr index most_taps = 64;  // of a window whose taps are unrolled

/// How many values a result folds (`count`), and how many of them along the last reduced axis (`in_line`), as far as
/// types know; 0 where they do not.
template <class Reduction>
struct window_taps {
  using extents = typename std::remove_cvref_t<decltype(std::declval<const Reduction&>().operand())>::shape_type;
  static constexpr int rank = extents::rank;
  static constexpr auto reduced = reduced_axes<rank>(typename Reduction::axes{});
  static constexpr int line_axis = [] {
    int last = rank - 1;
    while (last >= 0 && !reduced[last]) --last;
    return last;
  }();
  static constexpr int kept = [] {
    int count = 0;
    for (const bool each : reduced) count += each ? 0 : 1;
    return count;
  }();
  static constexpr index count = [] {
    index taps = 1;
    [&]<int... I>(std::integer_sequence<int, I...>) {
      ((taps *= !reduced[I] ? 1 : extents::static_extent(I) == dyn ? 0 : extents::static_extent(I)), ...);
    }(std::make_integer_sequence<int, rank>{});
    return taps;
  }();
  static constexpr index in_line = count == 0 ? 0 : extents::static_extent(line_axis < 0 ? 0 : line_axis);
};

/// A reduction of windows: every result folds `in_line` elements of each of `rows` lines. In the order of iteration
/// kept axes come first and the axis within a line last; results that are neighbours begin `step` elements apart on it.
template <class Reduction, int Rank, class Program>
struct window_fold {
  using monoid = typename Reduction::monoid;
  using state = typename Reduction::state;
  using value_type = compute_type<typename Reduction::element>;
  using cursor = decltype(std::declval<const Program&>().at(array<index, Rank>{}));
  using taps = window_taps<Reduction>;
  static constexpr int kept = taps::kept, in_line = static_cast<int>(taps::in_line),
                       rows = static_cast<int>(taps::count / taps::in_line);
  static constexpr int width = simd::width_for(cursor::widest);

  Program program;
  array<index, Rank> extents;
  index step;
  int row_axis;  // of the result, along which its rows lie

  index row_length() const { return extents[kept - 1]; }
};

/// Whether types say that a reduction may be one of windows. A slot of another reduction has no value along a line.
/// Rows of costly values are folded as those of any reduction.
template <class Reduction>
inline constexpr bool folds_windows = [] {
  using taps = window_taps<Reduction>;
  using value = compute_type<typename Reduction::operand_element>;
  using result = compute_type<typename Reduction::element>;  // as wide: packs of results hold no more lanes
  constexpr bool may_be =
      !compiled_by_nvcc && sizeof(result) >= sizeof(value) && is_lanewise<typename Reduction::monoid> &&
      taps::kept > 0 && taps::count > 1 && taps::count <= most_taps && slot_count<Reduction> == 1 &&
      std::is_same_v<typename Reduction::state, value> && !is_complex<value> && !std::is_same_v<value, bool>;
  if constexpr (may_be) {
    using program = decltype(std::declval<const Reduction&>().operand().template lower<0>(identity_map<taps::rank>()));
    return !is_written_first<decltype(std::declval<program>().at(array<index, taps::rank>{})), most_looked_at>;
  }
  return may_be;
}();

/// The step along a line from window to window that is the same for all that is visited; 0 where there is none.
template <int Rank>
struct common_step {
  int windows, line;  // their axes
  index step = 0;
  bool is_known = false, exists = true;

  template <class Start>
  void operator()(const array<index, Rank>& stride, const Start&) {
    const index along = stride[line], apart = stride[windows];
    if (!is_known && along != 0) step = apart / along, is_known = true;
    exists = exists && apart == step * along;
  }
};

/// How far apart windows that are neighbours begin on the line of their last taps; 0 where they have none in common.
template <class Program, int Rank>
index step_between_windows(Program& program, const array<index, Rank>&, int windows, int line) {
  common_step<Rank> found{windows, line};
  program.visit(found);
  return found.exists ? found.step : 0;
}
/// Windows that may reach beside their operand: their places move, not the operand's elements.
template <class T, int Leading, class Windows, int Rank, int Outer, class Operand>
index step_between_windows(remapped_source<window_map<T, Leading, Windows>, Rank, Outer, Operand>& program,
                           const array<index, Outer>&, int windows, int line) {
  constexpr int window_axis = Leading + Windows::rank - 1, tap_axis = Rank - 1;
  if constexpr (requires { program.map.windows.taps_between_windows(); }) {
    const auto& step = program.positions.step;
    bool moves = step[window_axis][windows] == 1 && step[tap_axis][line] == 1;
    for (int axis = 0; axis < Outer; ++axis) {  // every line lies alike
      moves = moves && (axis == windows || step[window_axis][axis] == 0) && (axis == line || step[tap_axis][axis] == 0);
    }
    return moves && program.operand.at(array<index, window_axis + 1>{}).is_adjacent()
               ? program.map.windows.taps_between_windows()
               : 0;
  } else {
    return 0;
  }
}

/// Lowers a reduction of windows into a statement whose result has `result_extents`.
template <class Reduction, int ResultRank>
auto lower_windows(const Reduction& node, const array<index, ResultRank>& result_extents) {
  using taps = window_taps<Reduction>;
  constexpr int rank = taps::rank;
  constexpr auto order = order_axes<rank>(taps::reduced, -1);
  constexpr auto in_result = axes_in_result<rank>(typename Reduction::axes{});
  const auto own = node.operand().shape().to_array();
  auto program = node.operand().template lower<0>(broadcast_map(ordered_map(order.axis_of), own));
  array<index, rank> extents{};
  for (int place = 0; place < rank; ++place) {
    const int axis = order.axis_of[place];
    extents[place] = in_result[axis] < 0 ? own[axis] : result_extents[in_result[axis]];
  }
  merge_axes(extents, 0, order.kept - 1, program);
  const index step = step_between_windows(program, extents, order.kept - 1, rank - 1);
  const int row_axis = in_result[order.axis_of[order.kept - 1]];
  return window_fold<Reduction, rank, decltype(program)>{program, extents, step, row_axis};
}

/// Whether windows are neighbours on a line that lies side by side.
template <class Fold>
bool is_on_line(const Fold& fold) {
  constexpr index most = Fold::in_line < simd::longest_step ? Fold::in_line : simd::longest_step;
  return fold.step >= 1 && fold.step <= most && fold.program.at(decltype(fold.extents){}).is_adjacent();
}

#if !defined(__CUDACC__)

/// The lines of several rows of results, one after another. Where rows of results are `joined` their lines are, too:
/// windows do not overlap, and neighbours are a step apart from row to row.
template <class Fold>
class window_lines {
 public:
  window_lines(const Fold& fold, bool joined) : fold_(fold), values_(fold), joined_(joined) {}
  /// How many rows' lines of `count` results there is room for, at least one.
  static index most_rows(const Fold& fold, index count, bool joined) { return room / pitch_of(fold, count, joined); }
  /// Folds the results `part`, at most `most_of_row`, of rows.
  void fold_rows(const array<index, 2>& rows, const array<index, 2>& part) {
    const index count = part[1] - part[0], first = part[0] * fold_.step;
    const array<index, 2> elements{{first, first + (count - 1) * fold_.step + Fold::in_line}};
    pitch_ = pitch_of(fold_, count, joined_), first_ = joined_ ? rows[0] * pitch_ : first;
    values_.move_to(rows[0]);
    values_.begin(elements, elements_, pitch_, room / pitch_);
    state* line = elements_;
    for (index row = rows[0], some = 0; row < rows[1]; row += some, line += some * pitch_) {
      some = values_.in_step() < rows[1] - row ? values_.in_step() : rows[1] - row;
      some = values_.fold(some, line);
      values_.advance(some);
    }
  }
  /// The results of a row, counted from the first one folded; of joined rows those of all, asked for as the first's.
  window_results<Fold> results(index row) const {
    return {numbered_from(elements_ + row * pitch_, first_), fold_.step};
  }

 private:
  using state = typename Fold::state;
  static constexpr index room = 1024;  // elements: more rows, and memory would wait for what is done with them

  static index pitch_of(const Fold& fold, index count, bool joined) {
    const index length = (count - 1) * fold.step + Fold::in_line;
    return joined ? count * fold.step : (length + line_bytes - 1) / line_bytes * line_bytes;
  }

  alignas(line_bytes) state elements_[room + simd::longest_step * line_bytes];
  const Fold& fold_;
  window_rows_of<Fold> values_;
  bool joined_;
  index first_, pitch_;
};

#endif

}  // namespace tenon::detail
