// tenon/linalg/gradients.hpp: gradients of factors, systems, inverses, determinants, eigenvalues and singular values.
// Each is written with the same operations and with products, so it has a gradient itself, if a long one.
// Floor 7: may include base, core, expr, grad, linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/generate.hpp>
#include <tenon/expr/matmul.hpp>
#include <tenon/expr/views/permute.hpp>
#include <tenon/expr/views/triangle.hpp>
#include <tenon/grad/fit.hpp>
#include <tenon/linalg/decompose.hpp>
#include <tenon/linalg/solve.hpp>

namespace tenon {

namespace detail {

/// The gradient in the element type of the operation.
template <class T, class Gradient>
auto gradient_as(const Gradient& gradient) {
  if constexpr (std::is_same_v<typename Gradient::element, T>) return gradient;
  else return cast<T>(gradient);
}

template <class Matrix>
auto symmetric_part(const Matrix& matrix) {
  return (matrix + transpose(matrix)) * typename Matrix::element(0.5);
}

/// What a system leaves for its matrices: -left transpose(right), of vectors their outer product.
template <int Own, class Left, class Right>
auto negative_outer(const Left& left, const Right& right) {
  if constexpr (Own == 1) return -(new_axis<-1>(left) * new_axis<-2>(right));
  else return -matmul(left, transpose(right));
}

/// A number for each matrix, repeated over its elements.
template <class Numbers>
auto over_matrices(const Numbers& numbers) {
  return new_axis<-1>(new_axis<-1>(numbers));
}

/// The matrix of ones on the diagonal, of the extents of square matrices.
template <class T, class Shape>
auto diagonal_of_ones(const Shape& extents) {
  return eye<T>(axes_of_shape<Shape::rank - 2, 2>(extents));
}

/// Elements off the diagonal, each divided by the difference of the numbers of its column and its row.
template <class Matrix, class Numbers>
auto over_differences(const Matrix& matrix, const Numbers& numbers) {
  using element = typename Matrix::element;
  const auto ones = diagonal_of_ones<element>(matrix.shape());
  return matrix * (element(1) - ones) / (new_axis<-2>(numbers) - new_axis<-1>(numbers) + ones);
}

/// The lower triangle, above the diagonal its transpose.
template <class Matrix>
auto mirrored(const Matrix& matrix) {
  return tril(matrix) + transpose(tril(matrix, -1));
}

}  // namespace detail

/// The gradient of the operands of a system, from the solution's.
template <int I, bool Transposed, class T, class Shape, class Left, class Right, class Gradient>
auto operand_gradient(const own_pass<solve_algorithm<Transposed>, T, Shape, Left, Right>& node,
                      const Gradient& gradient) {
  constexpr int own = detail::right_axes<typename Left::shape_type, typename Right::shape_type>;
  const auto& left = get<0>(node.operands);
  const auto& right = get<1>(node.operands);
  const solve_algorithm<!Transposed> transposed{{}, node.options.options};
  const auto of_right = detail::make_solve(transposed, left, detail::gradient_as<T>(gradient));
  if constexpr (I == 1) {
    return fit_gradient(right, of_right.shape(), of_right);
  } else {
    const auto whole = [&] {
      if constexpr (Transposed) return detail::negative_outer<own>(node, of_right);
      else return detail::negative_outer<own>(of_right, node);
    }();
    return fit_gradient(left, whole.shape(), whole);
  }
}

/// The gradients of the operands of a triangular system. The matrix has its gradient within the triangle alone.
template <int I, class T, class Shape, class Left, class Right, class Gradient>
auto operand_gradient(const own_pass<triangular_algorithm, T, Shape, Left, Right>& node, const Gradient& gradient) {
  constexpr int own = detail::right_axes<typename Left::shape_type, typename Right::shape_type>;
  const auto& left = get<0>(node.operands);
  const auto& right = get<1>(node.operands);
  const triangular_options options = node.options.options;
  triangular_algorithm other{{}, options};
  other.options.transposed = !options.transposed;
  const auto of_right = detail::make_solve(other, left, detail::gradient_as<T>(gradient));
  if constexpr (I == 1) {
    return fit_gradient(right, of_right.shape(), of_right);
  } else {
    const auto whole = detail::negative_outer<own>(where(options.transposed, node, of_right),
                                                   where(options.transposed, of_right, node));
    const index step = options.upper ? -1 : 1, limit = options.unit_diagonal ? -1 : 0;
    return fit_gradient(left, whole.shape(), detail::half_plane(whole, -step, step, limit));
  }
}

/// The gradient of symmetric positive definite matrices, from that of their factors.
/// source    Murray, Differentiation of the Cholesky decomposition (2016)
template <int, class T, class Shape, class Operand, class Gradient>
auto operand_gradient(const own_pass<cholesky_algorithm, T, Shape, Operand>& node, const Gradient& gradient) {
  const auto product = matmul(transpose(node), detail::gradient_as<T>(gradient));
  const auto halved = tril(product) * (T(1) - detail::diagonal_of_ones<T>(node.shape()) * T(0.5));
  const auto half = solve_triangular(node, halved, {.transposed = true});
  return detail::symmetric_part(solve_triangular(node, transpose(half), {.transposed = true}));
}

/// The gradient of matrices, from that of their inverses.
template <int, class T, class Shape, class Operand, class Gradient>
auto operand_gradient(const own_pass<inverse_algorithm, T, Shape, Operand>& node, const Gradient& gradient) {
  return -matmul(transpose(node), matmul(detail::gradient_as<T>(gradient), transpose(node)));
}

/// The gradient of matrices, given that of their determinants or the logarithms of these. Signs have none.
template <int, detail::determinant_part Part, class T, class Shape, class Operand, class Gradient>
auto operand_gradient(const own_pass<determinant_algorithm<Part>, T, Shape, Operand>& node, const Gradient& gradient) {
  using detail::determinant_part;
  const auto& operand = get<0>(node.operands);
  const auto given = detail::gradient_as<T>(gradient);
  if constexpr (Part == determinant_part::sign) return constants(operand.shape(), T(0));
  else if constexpr (Part == determinant_part::value)
    return detail::over_matrices(given * node) * transpose(inverse(operand));
  else return detail::over_matrices(given) * transpose(inverse(operand));
}

namespace detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_wide_gradient(extents_view operand) {
  throw shape_error(compose_text("qr: gradient: ", operand[operand.rank - 2], " rows, expected at least as many as ",
                                 operand[operand.rank - 1], " columns (operand ", operand, ")"));
}

}  // namespace detail

/// The gradient of matrices of full rank that are not wide, from that of q or r.
/// throws    shape_error where they are wide
/// source    Walter and Lehmann, Algorithmic differentiation of linear algebra functions (2018)
template <int, int Part, class T, class Shape, class Operand, class Gradient>
auto operand_gradient(const own_pass<qr_algorithm<Part>, T, Shape, Operand>& node, const Gradient& gradient) {
  const auto& operand = get<0>(node.operands);
  const auto found = operand.shape().to_array();
  constexpr int rank = Operand::shape_type::rank;
  if (found[rank - 2] < found[rank - 1]) detail::refuse_wide_gradient({found.begin(), rank});
  const auto given = detail::gradient_as<T>(gradient);
  const auto extents = detail::qr_extents::of(operand.shape());
  const auto q = make_own_pass<T>(qr_algorithm<0>{}, get<0>(extents), operand);
  const auto r = make_own_pass<T>(qr_algorithm<1>{}, get<1>(extents), operand);
  const auto through_r = [&](const auto& columns) {
    return transpose(solve_triangular(r, transpose(columns), {.upper = true}));
  };
  if constexpr (Part == 0) return through_r(given - matmul(q, detail::mirrored(matmul(transpose(given), q))));
  else return through_r(matmul(q, detail::mirrored(matmul(r, transpose(given)))));
}

/// The gradient of symmetric matrices, from that of their eigenvalues or vectors.
/// source    Giles, An extended collection of matrix derivative results (2008)
template <int, int Part, class T, class Shape, class Operand, class Gradient>
auto operand_gradient(const own_pass<eigh_algorithm<Part>, T, Shape, Operand>& node, const Gradient& gradient) {
  const auto& operand = get<0>(node.operands);
  const auto given = detail::gradient_as<T>(gradient);
  const auto extents = detail::eigh_extents::of(operand.shape());
  const auto vectors = make_own_pass<T>(eigh_algorithm<1>{}, get<1>(extents), operand);
  if constexpr (Part == 0) {
    return matmul(vectors * new_axis<-2>(given), transpose(vectors));
  } else {
    const auto values = make_own_pass<T>(eigh_algorithm<0>{}, get<0>(extents), operand);
    const auto turned = detail::over_differences(matmul(transpose(vectors), given), values);
    return matmul(vectors, matmul(turned, transpose(vectors)));
  }
}

/// The gradient of matrices, from that of their singular values or vectors.
/// source    Townsend, Differentiating the singular value decomposition (2016)
template <int, int Part, class T, class Shape, class Operand, class Gradient>
auto operand_gradient(const own_pass<svd_algorithm<Part>, T, Shape, Operand>& node, const Gradient& gradient) {
  const auto& operand = get<0>(node.operands);
  const auto given = detail::gradient_as<T>(gradient);
  const auto extents = detail::svd_extents::of(operand.shape());
  const auto u = make_own_pass<T>(svd_algorithm<0>{}, get<0>(extents), operand);
  const auto s = make_own_pass<T>(svd_algorithm<1>{}, get<1>(extents), operand);
  const auto vh = make_own_pass<T>(svd_algorithm<2>{}, get<2>(extents), operand);
  const auto turned = [&](const auto& product) {
    return detail::over_differences(product - transpose(product), s * s);
  };
  if constexpr (Part == 1) {
    return matmul(u * new_axis<-2>(given), vh);
  } else if constexpr (Part == 0) {
    const auto product = matmul(transpose(u), given);
    const auto outside = (given - matmul(u, product)) / new_axis<-2>(s);
    return matmul(matmul(u, turned(product) * new_axis<-2>(s)) + outside, vh);
  } else {
    const auto product = matmul(vh, transpose(given));
    const auto outside = (given - matmul(transpose(product), vh)) / new_axis<-1>(s);
    return matmul(u, matmul(new_axis<-1>(s) * turned(product), vh) + outside);
  }
}

}  // namespace tenon
