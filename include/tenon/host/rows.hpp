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

/// Evaluates a statement of the form `rows` into `target`; rows are the axes from `RowAxis` on.
template <int RowAxis, class Target, class E>
void run_rows_host(Target target, const E& node) {
  constexpr int rank = E::shape_type::rank;
  auto extents = node.shape().to_array();
  auto program = node.template lower<0>(identity_map<rank>());
  merge_axes(extents, RowAxis, rank, [&](auto&& visitor) { target.visit(visitor), program.visit(visitor); });
  const index rows = count_between(extents, 0, RowAxis), parts = count_between(extents, RowAxis, rank - 1);
  const index length = extents[rank - 1], grain = 1 + detail::pointwise_grain / (1 + parts * length);
  const auto result_extents = node.shape().to_array();
  const auto folds = lower_reductions<0>(node, [&]<int FirstSlot>(constant<FirstSlot>, const auto& reduction) {
    return lower_reduction<FirstSlot>(reduction, result_extents, false);
  });
  count_launch("rows");
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

}  // namespace tenon
