// tenon/expr/views/triangle.hpp: the part of matrices above or below a diagonal, zeros elsewhere.
// A choice by the difference of column and row, so it fuses like any pointwise operation.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/generate.hpp>
#include <tenon/expr/operations/where_cast.hpp>

namespace tenon {

/// Whether the offset is at most a limit.
struct at_most_generator {
  static constexpr const char* name = "triangle";
  using element = bool;
  index limit;
  TENON_HOST_DEVICE constexpr bool operator()(index offset) const { return offset <= limit; }
};

namespace detail {

/// The operand where row * `row` + column * `column` <= limit, zeros elsewhere.
template <class Operand>
constexpr auto half_plane(Operand&& operand, index row, index column, index limit) {
  using old_shape = typename std::remove_cvref_t<Operand>::shape_type;
  constexpr int rank = old_shape::rank;
  static_assert(rank >= 2, "tenon: a triangle has rows and columns: at least two axes");
  using matrix = shape<old_shape::static_extent(rank - 2), old_shape::static_extent(rank - 1)>;
  const matrix extents(array<index, 2>{{operand.shape().extent(rank - 2), operand.shape().extent(rank - 1)}});
  const generated<at_most_generator, matrix> chosen{{limit}, extents, 0, {{row, column}}};
  return where(chosen, std::forward<Operand>(operand), typename std::remove_cvref_t<Operand>::element(0));
}

}  // namespace detail

/// The matrices of the last two axes on and below the diagonal that starts `offset` columns to the right.
/// extents   the operand's
/// example   tril(ones) is the mask of causal attention
template <tensor_operand Operand>
constexpr auto tril(Operand&& operand, index offset = 0) {
  return detail::half_plane(std::forward<Operand>(operand), -1, 1, offset);
}

/// The matrices of the last two axes on and above the diagonal that starts `offset` columns to the right.
/// extents   the operand's
/// example   y = triu(x, 1);
template <tensor_operand Operand>
constexpr auto triu(Operand&& operand, index offset = 0) {
  const index limit = offset < -INT64_MAX ? INT64_MAX : -offset;
  return detail::half_plane(std::forward<Operand>(operand), 1, -1, limit);
}

}  // namespace tenon
