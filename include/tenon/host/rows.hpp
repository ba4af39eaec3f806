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

inline constexpr index short_row_bytes = 56;  // rows up to here are folded side by side, not along themselves
inline constexpr index record_size = 4096;    // values of a row that are kept; longer rows are computed again

/// Folds reduction number `I` of a row. Reduction number `Slot` records the values first and folds the record.
template <int I, int Slot, class Slots, class Fold, class Original, class Position, class Number>
void fold_row_slot(Slots& slots, const Fold& fold, const Original& original, const Position& position,
                   [[maybe_unused]] Number* record) {
  if constexpr (I == Slot) {
    const auto cursor = bind_slots(original.program.at(position), slots);
    write_row<reading::strided>(record, false, {{0, fold.run_length()}}, cursor, no_slots{});
  }
  get<I>(slots.results) = fold_result(fold, position, slots_for<(Fold::reads_slots || I == Slot)>(slots));
}

/// Folds the reductions of one row in order; each sees the ones before.
template <int Slot, class Slots, class Position, int... I, class... Folds, class Originals, class Number>
void fold_row_slots(Slots& slots, const tuple_base<std::integer_sequence<int, I...>, Folds...>& folds,
                    const Originals& originals, const Position& position, const array<int, sizeof...(I)>& first_equal,
                    Number* record) {
  ((copy_equal_slot<I>(slots.results, first_equal)
        ? void()
        : fold_row_slot<I, Slot>(slots, get<I>(folds), get<I>(originals), position, record)),
   ...);
}

/// Row by row: each reduction sees the ones before, then the row of the program is written. From number `Slot` on,
/// `folds` read the record of what this one reads in `originals`; of -1, nothing is recorded.
template <int RowAxis, int Slot, class Target, int Rank, class Program, class... Folds, class Originals>
void write_long_rows(Target target, array<index, Rank> extents, Program program, const tuple<Folds...>& folds,
                     const Originals& originals, const array<int, sizeof...(Folds)>& first_equal) {
  using number = typename decltype(get<(Slot < 0 ? 0 : Slot)>(originals).program)::value_type;
  merge_axes(extents, RowAxis, Rank, target, program);
  const index rows = count_between(extents, 0, RowAxis), parts = count_between(extents, RowAxis, Rank - 1);
  const index length = extents[Rank - 1];
  const index values = apply_tuple([](const auto&... fold) { return 1 + (0 + ... + fold.count); }, folds);
  const index grain = 1 + pointwise_grain / (values + parts * length);
  parallel_for(rows, grain, [&](index first, index last) {
    alignas(line_bytes) number record[record_size];
    row_slots<number, typename Folds::value_type...> slots{{}, record};
    const auto start_of = [&](index row) {
      array<index, Rank> position{};
      set_position(position, extents, 0, RowAxis, row);
      return position;
    };
    for (index row = first; row < last; ++row) {
      if (row + 1 < last && parts == 1) {
        prefetch_row(get<0>(originals).program.at(start_of(row + 1)), length);  // no hardware looks beyond a page
      }
      auto position = start_of(row);
      fold_row_slots<Slot>(slots, folds, originals, position, first_equal, record);
      for (index part = 0; part < parts; ++part) {
        set_position(position, extents, RowAxis, Rank - 1, part);
        write_run<reading::strided>(target.run_at(position), {{0, length}}, bind_slots(program.at(position), slots),
                                    no_slots{});
      }
    }
    if (target.streaming) simd::finish_streaming();
  });
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
  constexpr int slot = recorded_slot<E>, rank = E::shape_type::rank;
  const auto extents = node.shape().to_array();
  if constexpr (slot >= 0) {
    const auto reductions = reductions_of(node);
    const auto& operand = get<slot>(reductions)->operand();
    using part = std::remove_cvref_t<decltype(operand)>;
    const index length = count_between(extents, RowAxis, rank);
    if (first_equal[slot] == slot && reads_one_record<slot>(operand, node, folds, length, reductions)) {
      const auto program = replace_recorded<part>(node).template lower<0>(identity_map<rank>());
      return write_long_rows<RowAxis, slot>(
          target, extents, program, folds_of_record<slot, part>(reductions, folds, extents), folds, first_equal);
    }
  }
  const auto program = node.template lower<0>(identity_map<rank>());
  write_long_rows<RowAxis, -1>(target, extents, program, folds, folds, first_equal);
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

/// The longest row that is folded side by side with others: of the widest values that a reduction of `E` folds.
template <class E>
inline constexpr index short_row = []<class... Reductions>(std::type_identity<tuple<const Reductions*...>>) {
  return short_row_bytes / greatest_size({int{sizeof(compute_type<typename Reductions::operand_element>)}...});
}(std::type_identity<reduction_pointers<E>>{});

}  // namespace detail

/// Evaluates a statement of the form `rows` into `target`; rows are the axes from `RowAxis` on.
template <int RowAxis, class Target, class E>
void run_rows_host(const Target& target, const E& node) {
  const auto extents = node.shape().to_array();
  const index length = detail::longest_row<RowAxis>(node);
  const bool side_by_side =
      RowAxis > 0 && length <= detail::short_row<E> && count_between(extents, RowAxis - 1, RowAxis) > length;
  const auto folds = lower_reductions(node, extents, filled_array<reduction_pointers<E>::count>(side_by_side));
  const counted_launch counted("rows");
  if (side_by_side) {
    run_result_blocks<RowAxis>(target, node, extents, folds);
  } else {
    detail::run_rows_alone<RowAxis>(target, node, folds, first_equal_reductions(node));
  }
}

}  // namespace tenon
