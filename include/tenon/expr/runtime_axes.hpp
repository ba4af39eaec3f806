// tenon/expr/runtime_axes.hpp: a set of axes that only the running program knows.
// Each axis is seen twice, once to be kept and once to be reduced, so that the type is one whichever axes are named.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <tenon/expr/views/index_map.hpp>

namespace tenon {

/// Axes for a reduction, known at run time only; negative ones count from the back.
/// example   sum(x, axes{0, -1}), or axes(numbers) from an array or vector of int
class axes {
 public:
  axes() = default;  // else nvcc reads `axes{}` as axis 0
  axes(std::initializer_list<int> list) : axes(std::span<const int>(list.begin(), list.size())) {}
  /// throws    index_error for more axes than any operand has
  explicit axes(std::span<const int> list) : count_(static_cast<int>(list.size())) {
    if (count_ > capacity) {
      throw index_error(compose_text("axes: ", count_, " axes, expected at most ", capacity));
    }
    for (int i = 0; i < count_; ++i) named_[i] = list[static_cast<std::size_t>(i)];
  }

  /// Which axes of an operand of these extents are named.
  /// throws    index_error naming an axis that the operand lacks or that is named twice
  template <int Rank>
  array<bool, Rank> among(const array<index, Rank>& extents, const char* operation) const {
    array<bool, Rank> result{};
    for (int i = 0; i < count_; ++i) {
      const int axis = normalise_axis(named_[i], Rank);
      if (axis < 0 || axis >= Rank) {
        throw index_error(compose_text(operation, ": axes: axis ", named_[i], ", expected ", -Rank, " to ", Rank - 1,
                                       " (operand ", extents, ")"));
      }
      if (result[axis]) {
        throw index_error(
            compose_text(operation, ": axes: axis ", named_[i], " is named twice (operand ", extents, ")"));
      }
      result[axis] = true;
    }
    return result;
  }

 private:
  static constexpr int capacity = 16;
  array<int, capacity> named_{};
  int count_ = 0;
};

/// The axes that are reduced of what `axes_apart` gives.
struct run_time_axes {};

/// `operand` of extents [a, b, ...] with axes [a', b', ..., a", b", ...]: an axis of `set` lies among the last, with
/// extent 1 among the first, and the others the other way round.
/// cost      none of its own: strides change
template <tensor_operand Operand, int Rank>
auto axes_apart(Operand&& operand, const array<bool, Rank>& set) {
  axis_map<Rank, 2 * Rank> map{};
  array<index, 2 * Rank> extents = filled_array<2 * Rank>(index{1});
  for (int axis = 0; axis < Rank; ++axis) {
    const int moving = set[axis] ? Rank + axis : axis, still = set[axis] ? axis : Rank + axis;
    map.target[moving] = axis, map.step[moving] = 1, extents[moving] = operand.shape().extent(axis);
    map.target[still] = -1;
  }
  return make_index_map<unknown_axes>(std::forward<Operand>(operand), rank<2 * Rank>(extents), map);
}

}  // namespace tenon
