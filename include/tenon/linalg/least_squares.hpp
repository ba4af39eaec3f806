// tenon/linalg/least_squares.hpp: the best solutions of systems of more equations than unknowns.
// By QR factors, whose error grows with the condition of the matrix, not with its square.
// Floor 7: may include base, core, expr, linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <tenon/expr/matmul.hpp>
#include <tenon/expr/views/permute.hpp>
#include <tenon/linalg/decompose.hpp>
#include <tenon/linalg/solve.hpp>

namespace tenon {

namespace detail {

/// throws    shape_error where there are fewer equations than unknowns, or another number of right sides
template <class Left, class Right>
void check_equations(const Left& left, const Right& right) {
  must_be_matrices<Left>();
  constexpr int rank = Left::shape_type::rank, other_rank = Right::shape_type::rank;
  const auto found = left.shape().to_array();
  const auto other = right.shape().to_array();
  if (found[rank - 2] < found[rank - 1]) {
    throw shape_error(compose_text("lstsq: axis ", rank - 2, ": extent ", found[rank - 2], ", expected at least ",
                                   found[rank - 1], ", that of axis ", rank - 1, " (operand ", found, ")"));
  }
  constexpr int axis = other_rank - right_axes<typename Left::shape_type, typename Right::shape_type>;
  if constexpr (axis >= 0) {
    if (other[axis] != found[rank - 2]) {
      refuse_right_side("lstsq", found[rank - 2], other[axis], axis, {found.begin(), rank},
                        {other.begin(), other_rank});
    }
  }
}

}  // namespace detail

/// The x for which the squares of a x - b have the least sum, of matrices of at least as many rows as columns. Where b
/// has an axis fewer than `a`, it is a batch of vectors. `a` is factored at once, the solution is an expression.
/// extents   those of b, with the columns of `a` in place of its rows
/// throws    shape_error where extents do not fit, or `a` is wide; linear_algebra_error where elements of `a` are not
///           finite, and, when the statement runs, where its columns depend on each other: where rounding, to 4 sqrt(m)
///           times the last place, is all that the others leave of one; a device writes NaN there
/// cost      4 m n^2 operations a matrix, and 4 m n a column
/// gradient  of both sides
/// example   const auto line = evaluated_tensor(lstsq(a, measured));
template <tensor_operand Matrix, tensor_operand Right>
auto lstsq(Matrix&& a, Right&& b) {
  detail::check_equations(a, b);
  if constexpr (detail::right_axes<typename node_of<Matrix>::shape_type, typename node_of<Right>::shape_type> == 1) {
    return squeeze(lstsq(std::forward<Matrix>(a), new_axis<-1>(as_node(std::forward<Right>(b)))), axis<-1>);
  } else {
    using element = typename node_of<Matrix>::element;
    const auto rows = static_cast<double>(a.shape().extent(-2));
    const double rounding = 4 * std::sqrt(rows) * static_cast<double>(std::numeric_limits<element>::epsilon());
    auto factors = qr(std::forward<Matrix>(a));
    return detail::make_solve(triangular_algorithm{{}, {.upper = true}, rounding}, std::move(factors.r),
                              matmul(transpose(std::move(factors.q)), std::forward<Right>(b)));
  }
}

}  // namespace tenon
