// tenon/expr/views/window.hpp: sliding windows over the last two axes.
// Windows overlap in memory, not in copies: pooling is a reduction over their axes.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/index_map.hpp>

namespace tenon {

/// The windows of `Height` x `Width` that start every `step` rows and columns: [..., h, w] becomes [..., p, q, Height,
/// Width]. extents   p = (h - Height) / step + 1, q likewise: windows that would overhang are left out throws
/// shape_error when not even one window fits
template <index Height, index Width, tensor_operand Operand>
auto windows(Operand&& operand, index step) {
  using old_shape = typename std::remove_cvref_t<Operand>::shape_type;
  constexpr int rank = old_shape::rank;
  static_assert(rank >= 2, "tenon: windows slide over the last two axes");
  const index h = operand.shape().extent(rank - 2), w = operand.shape().extent(rank - 1);
  if (step < 1 || h < Height || w < Width) {
    throw shape_error(compose_text("windows: extents ", h, " and ", w, ", expected at least ", Height, " and ", Width,
                                   " (operand ", operand.shape().to_array(), ", step ", step, ")"));
  }
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    using new_shape = shape<old_shape::static_extent(I)..., dyn, dyn, Height, Width>;
    const array<index, rank + 2> extents{
        {operand.shape().extent(I)..., (h - Height) / step + 1, (w - Width) / step + 1, Height, Width}};
    const axis_map<rank, rank + 2> map{{},
                                       {{I..., rank - 2, rank - 1, rank - 2, rank - 1}},
                                       {{(static_cast<void>(I), index{1})..., step, step, 1, 1}}};
    return make_index_map(std::forward<Operand>(operand), new_shape(extents), map);
  }(std::make_integer_sequence<int, rank - 2>{});
}

}  // namespace tenon
