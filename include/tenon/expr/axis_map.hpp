// tenon/expr/axis_map.hpp: where the axes of a node lie in the iteration space of a statement.
// Slices, flips, permutations, broadcasts and windows are one affine map each, and so are all of them together.
// Floor 2: may include base, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/array.hpp>

namespace tenon {

/// Where the axes of a node lie in the iteration space: iteration axis j moves node axis `target[j]` (-1: none, the
/// node is broadcast along j) by `step[j]`, starting at `start`. Slices, flips, permutations, broadcasts and sliding
/// windows are all such maps.
template <int Rank, int Outer>
struct axis_map {
  array<index, Rank> start;
  array<int, Outer> target;
  array<index, Outer> step;

  constexpr index offset(const array<index, Rank>& strides) const {
    index result = 0;
    for (int axis = 0; axis < Rank; ++axis) result += start[axis] * strides[axis];
    return result;
  }
  constexpr array<index, Outer> strides(const array<index, Rank>& strides) const {
    array<index, Outer> result{};
    for (int j = 0; j < Outer; ++j) result[j] = target[j] < 0 ? 0 : step[j] * strides[target[j]];
    return result;
  }
  friend constexpr bool operator==(const axis_map&, const axis_map&) = default;
};

/// The map of a node that is iterated along its own axes.
template <int Rank>
constexpr axis_map<Rank, Rank> identity_map() {
  axis_map<Rank, Rank> map{};
  for (int axis = 0; axis < Rank; ++axis) map.target[axis] = axis, map.step[axis] = 1;
  return map;
}

/// The map of an operand of `extents`, aligned at the back of a node of rank `Rank`: extents of 1 are broadcast.
template <int OperandRank, int Rank, int Outer>
constexpr axis_map<OperandRank, Outer> broadcast_map(const axis_map<Rank, Outer>& map,
                                                     const array<index, OperandRank>& extents) {
  constexpr int missing = Rank - OperandRank;
  axis_map<OperandRank, Outer> result{};
  for (int axis = 0; axis < OperandRank; ++axis)
    result.start[axis] = extents[axis] == 1 ? 0 : map.start[axis + missing];
  for (int j = 0; j < Outer; ++j) {
    const int axis = map.target[j] - missing;
    const bool moves = map.target[j] >= 0 && axis >= 0 && extents[axis] != 1;
    result.target[j] = moves ? axis : -1;
    result.step[j] = moves ? map.step[j] : 0;
  }
  return result;
}

}  // namespace tenon
