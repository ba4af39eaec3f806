// tenon/host/rows.hpp: the loop of row-resident statements (softmax, layer norm and the like).
// Each row is folded reduction by reduction, then written, while it stays in cache: memory sees it once.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/host/fold.hpp>
#include <tenon/host/pointwise.hpp>
#include <tenon/plan/iterate.hpp>
#include <tenon/plan/stages.hpp>

namespace tenon {

/// The reductions of the current row that are known so far.
template <class... Values>
struct row_slots {
  tuple<Values...> results;

  template <int Slot>
  TENON_HOST_DEVICE auto value(index) const {
    return get<Slot>(results);
  }
  template <int Slot, int Width>
  TENON_INLINE auto pack(index) const {
    using value_type = std::remove_cvref_t<decltype(get<Slot>(results))>;
    return simd::broadcast<value_type, Width>(get<Slot>(results));
  }
};

namespace detail {

/// One reduction within rows: its operand's program, with the row's axes merged.
template <class Reduction, int Rank, class Program>
struct row_fold {
  using monoid = typename Reduction::monoid;
  using state = typename Reduction::state;
  using value_type = compute_type<typename Reduction::element>;
  Program program;
  array<index, Rank> extents;
  int row_axis;  // where the row's axes begin
  index count;

  template <class Slots>
  value_type fold(array<index, Rank> position, const Slots& slots) const {
    const index length = extents[Rank - 1], rows = count_between(extents, row_axis, Rank - 1);
    cascade<monoid, state> partial;
    for (index row = 0; row < rows; ++row) {
      set_position(position, extents, row_axis, Rank - 1, row);
      fold_row(partial, program.at(position), {{0, length}}, row * length, slots);
    }
    return monoid::template finish<value_type>(partial.total(), count);
  }
};

template <int FirstSlot, class Reduction>
auto make_row_fold(const Reduction& node, int row_axis) {
  constexpr int rank = Reduction::shape_type::rank;
  auto extents = node.operand().shape().to_array();
  const index count = count_between(extents, row_axis, rank);
  auto program = node.operand().template lower<FirstSlot>(broadcast_map(identity_map<rank>(), extents));
  merge_axes(extents, row_axis, rank, [&](auto&& visitor) { program.visit(visitor); });
  return row_fold<Reduction, rank, decltype(program)>{program, extents, row_axis, count};
}

/// Lowers every reduction of an expression; `FirstSlot` is the number of its first.
template <int FirstSlot, class E>
auto make_row_folds(const E& node, int row_axis);

template <int FirstSlot, class... Operands, int... I>
auto make_operand_folds(const tuple<Operands...>& operands, [[maybe_unused]] int row_axis,
                        std::integer_sequence<int, I...>) {
  [[maybe_unused]] constexpr auto first = [](int operand) {
    constexpr int counts[] = {slot_count<Operands>..., 0};
    int slot = FirstSlot;
    for (int before = 0; before < operand; ++before) slot += counts[before];
    return slot;
  };
  return join(make_row_folds<first(I)>(get<I>(operands), row_axis)...);
}

template <int FirstSlot, class E>
auto make_row_folds(const E& node, int row_axis) {
  using positions = std::make_integer_sequence<int, decltype(E::operands)::count>;
  auto below = make_operand_folds<FirstSlot>(node.operands, row_axis, positions{});
  if constexpr (is_reduction<E>) {
    return join(below, make_tuple_of(make_row_fold<FirstSlot>(node, row_axis)));
  } else {
    return below;
  }
}

}  // namespace detail

/// Evaluates a statement of the form `rows` into `target`; rows are the axes from `RowAxis` on.
template <int RowAxis, class Target, class E>
void run_rows_host(Target target, const E& node) {
  constexpr int rank = E::shape_type::rank;
  auto extents = node.shape().to_array();
  auto program = node.template lower<0>(identity_map<rank>());
  merge_axes(extents, RowAxis, rank, [&](auto&& visitor) { target.visit(visitor), program.visit(visitor); });
  const index rows = count_between(extents, 0, RowAxis), parts = count_between(extents, RowAxis, rank - 1);
  const index length = extents[rank - 1], grain = 1 + detail::pointwise_grain / (1 + parts * length);
  const auto folds = detail::make_row_folds<0>(node, RowAxis);
  count_launch("rows");
  apply_tuple(
      [&](const auto&... fold) {
        parallel_for(rows, grain, [&](index first, index last) {
          row_slots<typename std::remove_cvref_t<decltype(fold)>::value_type...> slots{};
          for (index row = first; row < last; ++row) {
            array<index, rank> position{};
            set_position(position, extents, 0, RowAxis, row);
            apply_tuple([&](auto&... result) { ((result = fold.fold(position, slots)), ...); }, slots.results);
            for (index part = 0; part < parts; ++part) {
              set_position(position, extents, RowAxis, rank - 1, part);
              write_run(target.at(position), target.step(), 0, length, program.at(position), slots);
            }
          }
        });
      },
      folds);
}

}  // namespace tenon
