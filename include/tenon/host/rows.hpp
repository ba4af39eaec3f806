// tenon/host/rows.hpp: the loop of row-resident statements (softmax, layer norm and the like).
// Each row is folded reduction by reduction, then written, while it stays in cache: memory sees it once.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/host/fold.hpp>
#include <tenon/host/pointwise.hpp>

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

inline constexpr index short_row = 16;  // rows up to here are folded side by side, not along themselves

/// Row by row: each reduction sees the ones before, then the row is written.
template <int RowAxis, class Target, class E, class Folds>
void run_long_rows(Target target, const E& node, const Folds& folds) {
  constexpr int rank = E::shape_type::rank;
  auto extents = node.shape().to_array();
  auto program = node.template lower<0>(identity_map<rank>());
  merge_axes(extents, RowAxis, rank, [&](auto&& visitor) { target.visit(visitor), program.visit(visitor); });
  const index rows = count_between(extents, 0, RowAxis), parts = count_between(extents, RowAxis, rank - 1);
  const index length = extents[rank - 1], grain = 1 + pointwise_grain / (1 + parts * length);
  apply_tuple(
      [&](const auto&... fold) {
        parallel_for(rows, grain, [&](index first, index last) {
          row_slots<typename std::remove_cvref_t<decltype(fold)>::value_type...> slots{};
          for (index row = first; row < last; ++row) {
            array<index, rank> position{};
            set_position(position, extents, 0, RowAxis, row);
            apply_tuple([&](auto&... result) { ((result = fold_result(fold, position, slots)), ...); }, slots.results);
            for (index part = 0; part < parts; ++part) {
              set_position(position, extents, RowAxis, rank - 1, part);
              write_run(target.at(position), target.step(), 0, length, program.at(position), slots);
            }
          }
        });
      },
      folds);
}

}  // namespace detail

/// Evaluates a statement of the form `rows` into `target`; rows are the axes from `RowAxis` on.
template <int RowAxis, class Target, class E>
void run_rows_host(const Target& target, const E& node) {
  constexpr int rank = E::shape_type::rank, beside = last_moving_axis<typename E::shape_type>(RowAxis);
  const auto extents = node.shape().to_array();
  const index length = count_between(extents, RowAxis, rank);
  const bool side_by_side = RowAxis > 0 && length <= detail::short_row && extents[beside] > length;
  const auto folds = lower_reductions<0>(node, [&]<int FirstSlot>(constant<FirstSlot>, const auto& reduction) {
    return lower_reduction<FirstSlot>(reduction, extents, side_by_side);
  });
  count_launch("rows");
  if (side_by_side) {
    run_result_blocks<RowAxis>(target, node, folds);
  } else {
    detail::run_long_rows<RowAxis>(target, node, folds);
  }
}

}  // namespace tenon
