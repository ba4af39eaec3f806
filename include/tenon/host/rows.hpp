// tenon/host/rows.hpp: the loop of row-resident statements (softmax, layer norm and the like).
// Each row is folded reduction by reduction, then written, while it stays in cache: memory sees it once.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/host/fold.hpp>
#include <tenon/host/pointwise.hpp>
#include <tenon/plan/record.hpp>

namespace tenon {

/// The reductions of the current row that are known so far, and its values on record.
template <class Record, class... Values>
struct row_slots {
  tuple<Values...> results;
  const Record* record;

  template <int Slot>
  TENON_HOST_DEVICE auto value(index) const {
    return get<Slot>(results);
  }
};

namespace detail {

inline constexpr index short_row = 16;      // rows up to here are folded side by side, not along themselves
inline constexpr index record_size = 4096;  // values of a row that are kept; longer rows are computed again

/// Values of rows that are put on record before the reduction of slot `Slot` is folded, which reads them there.
template <int Slot, class Program>
struct row_recorder {
  using record_type = typename Program::value_type;
  static constexpr int slot = Slot;
  Program program;

  template <class Slots, int Rank>
  void write(record_type* record, const array<index, Rank>& position, index length, const Slots& slots) const {
    write_row<reading::strided>(record, false, {{0, length}}, bind_slots(program.at(position), slots), no_slots{});
  }
};
template <int Slot, class Program>
row_recorder<Slot, Program> recorder_for(const Program& program) {
  return {program};
}

/// Of rows that are computed again.
struct no_recorder {
  using record_type = char;
  static constexpr int slot = -1;
};

/// Folds one reduction of a row, from the recorder's slot on perhaps of the record.
template <int Slot, class Slots, class Fold, class Position, class Recorder>
void fold_row_slot(Slots& slots, const Fold& fold, const Position& position, const Recorder& recorder,
                   [[maybe_unused]] typename Recorder::record_type* record) {
  if constexpr (Slot == Recorder::slot) recorder.write(record, position, fold.run_length(), slots);
  constexpr bool reads_slots = Fold::reads_slots || Slot == Recorder::slot;
  get<Slot>(slots.results) = fold_result(fold, position, slots_for<reads_slots>(slots));
}

/// Folds the reductions of one row in order; each sees the ones before.
template <class Slots, class Position, int... I, class... Folds, class Recorder>
void fold_row_slots(Slots& slots, const tuple_base<std::integer_sequence<int, I...>, Folds...>& folds,
                    const Position& position, const array<int, sizeof...(I)>& first_equal, const Recorder& recorder,
                    typename Recorder::record_type* record) {
  ((copy_equal_slot<I>(slots.results, first_equal)
        ? void()
        : fold_row_slot<I>(slots, get<I>(folds), position, recorder, record)),
   ...);
}

/// Asks for what the first reduction reads of the row at `position`.
template <int Rank, class Folds, class Recorder>
void prefetch_first(const array<index, Rank>& position, index length, const Folds& folds, const Recorder& recorder) {
  if constexpr (Recorder::slot == 0) prefetch_row(recorder.program.at(position), length);
  else prefetch_row(get<0>(folds).program.at(position), length);
}

/// Row by row: each reduction sees the ones before, then the row of the program is written.
template <int RowAxis, class Target, int Rank, class Program, class... Folds, class Recorder>
void write_long_rows(Target target, array<index, Rank> extents, Program program, const tuple<Folds...>& folds,
                     const array<int, sizeof...(Folds)>& first_equal, const Recorder& recorder) {
  using record_type = typename Recorder::record_type;
  merge_axes(extents, RowAxis, Rank, target, program);
  const index rows = count_between(extents, 0, RowAxis), parts = count_between(extents, RowAxis, Rank - 1);
  const index length = extents[Rank - 1];
  const index values = apply_tuple([](const auto&... fold) { return 1 + (0 + ... + fold.count); }, folds);
  const index grain = 1 + pointwise_grain / (values + parts * length);
  parallel_for(rows, grain, [&](index first, index last) {
    alignas(line_bytes) record_type record[record_size];
    row_slots<record_type, typename Folds::value_type...> slots{{}, record};
    array<index, Rank> position{};
    for (index row = first; row < last; ++row) {
      if (row + 1 < last && parts == 1) {
        set_position(position, extents, 0, RowAxis, row + 1);
        prefetch_first(position, length, folds, recorder);  // no hardware looks beyond a page
      }
      set_position(position, extents, 0, RowAxis, row);
      fold_row_slots(slots, folds, position, first_equal, recorder, record);
      for (index part = 0; part < parts; ++part) {
        set_position(position, extents, RowAxis, Rank - 1, part);
        write_run<reading::strided>(target.run_at(position), {{0, length}}, bind_slots(program.at(position), slots),
                                    no_slots{});
      }
    }
    if (target.streaming) simd::finish_streaming();
  });
}

template <int RowAxis, class Target, class E, class Folds, int Count, class Recorder>
TENON_INLINE void run_long_rows(const Target& target, const E& node, const Folds& folds,
                                const array<int, Count>& first_equal, const Recorder& recorder) {
  const auto program = node.template lower<0>(identity_map<E::shape_type::rank>());
  write_long_rows<RowAxis>(target, node.shape().to_array(), program, folds, first_equal, recorder);
}

/// Whether the row that a fold reads is one run, as long as the rows of the statement (a shorter one repeats over them)
/// and short enough to be kept.
template <class Fold>
bool fits_record(const Fold& fold, index row_length) {
  return fold.run_count() == 1 && fold.run_length() == row_length && row_length <= record_size;
}

/// Whether all that reads the record of `part`, the values of slot `Slot`, reads the same values in the same order.
template <int Slot, class Part, class E, int... I, class... Reductions, class Folds>
bool reads_one_record(const Part& part, const E& node, const Folds& folds, index row_length,
                      const tuple_base<std::integer_sequence<int, I...>, const Reductions*...>& reductions) {
  const auto reads_same = [&]<int Own, class Reduction>(std::integral_constant<int, Own>, const Reduction& reduction) {
    if constexpr (Own > Slot && folds_recorded<Part, Reduction>)
      return fits_record(get<Own>(folds), row_length) && occurrences_equal(part, reduction.operand());
    else return true;
  };
  return fits_record(get<Slot>(folds), row_length) && occurrences_equal(part, node) &&
         (reads_same(std::integral_constant<int, I>{}, *get<I>(reductions)) && ...);
}

/// The fold of reduction number `Own`; from slot `Slot` on, it reads the record of `Part`.
template <int Slot, class Part, int Own, class Reduction, class Fold, int Rank>
auto fold_of_record(const Reduction& reduction, const Fold& fold, const array<index, Rank>& extents) {
  if constexpr (Own == Slot || (Own > Slot && folds_recorded<Part, Reduction>)) {
    const auto replaced = reduction.with_operands(make_tuple_of(replace_recorded<Part>(reduction.operand())));
    return lower_reduction<Own + 1 - slot_count<Reduction>>(replaced, extents, false);
  } else {
    return fold;
  }
}
template <int Slot, class Part, int... I, class... Reductions, class Folds, int Rank>
auto folds_of_record(const tuple_base<std::integer_sequence<int, I...>, const Reductions*...>& reductions,
                     const Folds& folds, const array<index, Rank>& extents) {
  return make_tuple_of(fold_of_record<Slot, Part, I>(*get<I>(reductions), get<I>(folds), extents)...);
}

/// Rows whose costly values are computed once, where they fit and all occurrences are equal; else as they stand.
template <int RowAxis, class Target, class E, class Folds, int Count>
void run_rows_alone(const Target& target, const E& node, const Folds& folds, const array<int, Count>& first_equal) {
  constexpr int slot = recorded_slot<E>;
  if constexpr (slot >= 0) {
    const auto extents = node.shape().to_array();
    const auto reductions = reductions_of(node);
    const auto& operand = get<slot>(reductions)->operand();
    using part = std::remove_cvref_t<decltype(operand)>;
    const index length = count_between(extents, RowAxis, E::shape_type::rank);
    if (first_equal[slot] == slot && reads_one_record<slot>(operand, node, folds, length, reductions)) {
      return run_long_rows<RowAxis>(target, replace_recorded<part>(node),
                                    folds_of_record<slot, part>(reductions, folds, extents), first_equal,
                                    recorder_for<slot>(get<slot>(folds).program));
    }
  }
  run_long_rows<RowAxis>(target, node, folds, first_equal, no_recorder{});
}

/// How many values the longest row holds that a reduction of `node` folds; the result may keep one of them only.
template <int RowAxis, class E>
index longest_row(const E& node) {
  return apply_tuple(
      [](const auto*... reduction) {
        index longest = 0;
        const auto compare = [&](const auto& extents) {
          const index length = count_between(extents, RowAxis, extents.size());
          longest = length > longest ? length : longest;
        };
        (compare(reduction->operand().shape().to_array()), ...);
        return longest;
      },
      reductions_of(node));
}

}  // namespace detail

/// Evaluates a statement of the form `rows` into `target`; rows are the axes from `RowAxis` on.
template <int RowAxis, class Target, class E>
void run_rows_host(const Target& target, const E& node) {
  const auto extents = node.shape().to_array();
  const index length = detail::longest_row<RowAxis>(node);
  const bool side_by_side =
      RowAxis > 0 && length <= detail::short_row && count_between(extents, RowAxis - 1, RowAxis) > length;
  const auto folds = lower_reductions(node, extents, filled_array<reduction_pointers<E>::count>(side_by_side));
  const counted_launch counted("rows");
  if (side_by_side) {
    run_result_blocks<RowAxis>(target, node, folds);
  } else {
    detail::run_rows_alone<RowAxis>(target, node, folds, first_equal_reductions(node));
  }
}

}  // namespace tenon
