// tenon/expr/one_hot.hpp: classes as vectors.
// A comparison of positions with indices: nothing of its own is stored or launched.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/generate.hpp>
#include <tenon/expr/operations/comparison.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/views/reshape.hpp>

namespace tenon {

/// 1 where the position along a new last axis is the index, 0 elsewhere; an index outside [0, depth) gives zeros.
/// extents   those of the indices, then `depth`, a number or a shape of one axis
/// example   y = one_hot<float>(labels, 10);
template <dtype T, tensor_operand Operand, index Depth>
auto one_hot(Operand&& indices, const shape<Depth>& depth) {
  return cast<T>(new_axis<-1>(std::forward<Operand>(indices)) == iota<index>(depth));
}
template <dtype T, tensor_operand Operand>
auto one_hot(Operand&& indices, index depth) {
  return one_hot<T>(std::forward<Operand>(indices), rank<1>(depth));
}

}  // namespace tenon
