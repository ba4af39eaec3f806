// tenon/linalg/solve.hpp: Cholesky factors, solutions of systems, inverses and determinants, for users.
// Each is an algorithm of expr/own_pass.hpp: the statement that holds it runs it, into its destination where it can.
// Floor 7: may include base, expr, linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/own_pass.hpp>
#include <tenon/linalg/solve_passes.hpp>

namespace tenon {

namespace detail {
inline constexpr const char* is_singular = "is singular";
inline constexpr const char* is_not_positive_definite = "is not positive definite";
}  // namespace detail

/// Options of solve: `solve(a, b, {.positive_definite = true})`
struct solve_options {
  bool positive_definite = false;  ///< by Cholesky's factors; `a` is symmetric, what is above its diagonal is not read

  bool operator==(const solve_options&) const = default;
};

/// Options of solve_triangular: `solve_triangular(r, b, {.upper = true})`
struct triangular_options {
  bool upper = false;          ///< which triangle is read
  bool transposed = false;     ///< solves with the transposed matrix
  bool unit_diagonal = false;  ///< the diagonal is not read; its elements are 1

  bool operator==(const triangular_options&) const = default;
};

/// Cholesky's factor within an expression.
struct cholesky_algorithm : square_algorithm<cholesky_algorithm, detail::cholesky_pass> {
  static constexpr const char* name = "cholesky";
  static constexpr detail::matrix_operation what{name, detail::is_not_positive_definite};
  bool operator==(const cholesky_algorithm&) const = default;
};

/// Inverses within an expression.
struct inverse_algorithm : square_algorithm<inverse_algorithm, detail::inverse_pass> {
  static constexpr const char* name = "inverse";
  static constexpr detail::matrix_operation what{name, detail::is_singular};
  bool operator==(const inverse_algorithm&) const = default;
};

/// Determinants within an expression.
template <detail::determinant_part Part>
struct determinant_algorithm {
  static constexpr const char* name = Part == detail::determinant_part::value ? "determinant" : "slogdet";
  bool operator==(const determinant_algorithm&) const = default;
  template <class Target, class Operand>
  void operator()(const Target& target, const Operand& operand) const {
    detail::run_square<detail::determinant_pass, 0>({name, ""}, target, operand, Part);
  }
  template <class Target, class Operand>
  static constexpr bool runs_small = detail::is_small_square<Target, Operand>;
  template <class Target, class Operand>
  TENON_INLINE bool run_small(const Target& target, const Operand& operand) const {
    return detail::run_small_square<detail::determinant_pass, 0>(target, operand, Part);
  }
};

/// How an algorithm of systems runs; `Own::system()` says which systems they are.
template <class Own>
struct system_algorithm {
  bool operator==(const system_algorithm&) const = default;
  template <class Target, class Left, class Right>
  void operator()(const Target& target, const Left& left, const Right& right) const {
    detail::run_solve(static_cast<const Own&>(*this).system(), target, left, right);
  }
  template <class Target, class Left, class Right>
  static constexpr bool runs_small = detail::is_small_system<Target, Left, Right>;
  template <class Target, class Left, class Right>
  TENON_INLINE bool run_small(const Target& target, const Left& left, const Right& right) const {
    return detail::run_small_system(static_cast<const Own&>(*this).system(), target, left, right);
  }
};

/// The solution of systems within an expression; with the transposed matrices, as gradients do, where `Transposed`.
template <bool Transposed = false>
struct solve_algorithm : system_algorithm<solve_algorithm<Transposed>> {
  static constexpr const char* name = "solve";
  solve_options options;
  bool operator==(const solve_algorithm&) const = default;
  TENON_INLINE detail::system_options system() const {
    if (options.positive_definite) {
      return {{name, detail::is_not_positive_definite}, detail::system_kind::positive_definite, {}};
    }
    return {{name, detail::is_singular}, detail::system_kind::general, {.is_transposed = Transposed}};
  }
};

/// The solution of triangular systems within an expression.
struct triangular_algorithm : system_algorithm<triangular_algorithm> {
  static constexpr const char* name = "solve_triangular";
  triangular_options options;
  double least_share = 0;  ///< of lstsq, whose name errors tell: what a pivot is of its column where columns differ
  bool operator==(const triangular_algorithm&) const = default;
  TENON_INLINE detail::system_options system() const {
    return {least_share > 0 ? detail::matrix_operation{"lstsq", "has columns that depend on each other"}
                            : detail::matrix_operation{name, detail::is_singular},
            least_share > 0 ? detail::system_kind::factor : detail::system_kind::triangular,
            {options.upper, options.transposed,
             options.unit_diagonal ? detail::diagonal_kind::ones : detail::diagonal_kind::pivots, least_share}};
  }
};

namespace detail {

template <class Algorithm, class Left, class Right>
TENON_INLINE auto make_solve(const Algorithm& algorithm, Left&& left, Right&& right) {
  return make_own_pass<typename node_of<Left>::element>(algorithm, solution_extents<Algorithm>(left, right),
                                                        std::forward<Left>(left), std::forward<Right>(right));
}
template <determinant_part Part, class Matrix>
TENON_INLINE auto make_determinant(Matrix&& a) {
  return make_own_pass<typename node_of<Matrix>::element>(determinant_algorithm<Part>{}, leading_extents<2>(a.shape()),
                                                          std::forward<Matrix>(a));
}

}  // namespace detail

/// The lower triangular factor L of symmetric positive definite matrices L transpose(L). Only elements on and below the
/// diagonals are read; elements of L above its diagonal are 0.
/// extents   the operand's
/// throws    shape_error where the matrices are not square; linear_algebra_error, when the statement runs on the host,
///           where one is not positive definite; a device writes NaN there
/// cost      n^3 / 3 operations a matrix; the host's threads, or the threads of a device, share a batch
/// gradient  symmetric, as PyTorch's
/// example   l = cholesky(covariance);
template <tensor_operand Matrix>
TENON_INLINE auto cholesky(Matrix&& a) {
  detail::check_square("cholesky", a);
  return make_own_pass<typename node_of<Matrix>::element>(cholesky_algorithm{}, a.shape(), std::forward<Matrix>(a));
}

/// The solutions x of a x = b, by elimination with a choice of rows; by Cholesky's factors where the options say that
/// `a` is positive definite. Where b has an axis fewer than `a`, it is a batch of vectors.
/// extents   those of b, the batches of both repeated as in products
/// throws    shape_error where extents do not fit; linear_algebra_error, when the statement runs on the host, where a
///           matrix is singular (a pivot is 0 or NaN); a device writes NaN there
/// cost      2 n^3 / 3 operations a matrix and 2 n^2 a column
/// gradient  of both sides
/// example   x = solve(a, b); k = solve(s, h, {.positive_definite = true});
template <tensor_operand Matrix, tensor_operand Right>
TENON_INLINE auto solve(Matrix&& a, Right&& b, solve_options options = {}) {
  return detail::make_solve(solve_algorithm<>{{}, options}, std::forward<Matrix>(a), std::forward<Right>(b));
}

/// The solutions x of a x = b. Only one triangle of `a` is read: the lower one, unless the options say `upper`.
/// extents   as of solve
/// throws    as solve, where an element of the diagonal is 0
/// cost      n^2 operations a column
/// gradient  of both operands; the gradient of `a` is 0 outside the triangle
/// example   x = solve_triangular(r, c, {.upper = true});
template <tensor_operand Matrix, tensor_operand Right>
TENON_INLINE auto solve_triangular(Matrix&& a, Right&& b, triangular_options options = {}) {
  return detail::make_solve(triangular_algorithm{{}, options}, std::forward<Matrix>(a), std::forward<Right>(b));
}

/// The inverses of matrices. `solve` is faster and more accurate where they are multiplied with something.
/// extents   the operand's
/// throws    as solve
/// cost      2 n^3 operations a matrix; up to 4 x 4 of static extents by cofactors, where these do not cancel
/// gradient  yes
/// example   a = inverse(a);
template <tensor_operand Matrix>
TENON_INLINE auto inverse(Matrix&& a) {
  detail::check_square("inverse", a);
  return make_own_pass<typename node_of<Matrix>::element>(inverse_algorithm{}, a.shape(), std::forward<Matrix>(a));
}

/// The determinants of matrices; 1 of matrices without rows.
/// extents   the operand's without the last two
/// throws    shape_error where the matrices are not square
/// cost      2 n^3 / 3 operations a matrix
/// gradient  where the matrix is not singular
/// example   const float size = determinant(a);
template <tensor_operand Matrix>
TENON_INLINE auto determinant(Matrix&& a) {
  detail::check_square("determinant", a);
  return detail::make_determinant<detail::determinant_part::value>(std::forward<Matrix>(a));
}

/// The result of slogdet, extents [...] of the batch: `auto [sign, logabsdet] = slogdet(a);`
template <class Sign, class Logarithm>
struct sign_and_logarithm {
  Sign sign;
  Logarithm logabsdet;
};

/// The signs of determinants and the logarithms of their magnitudes, which do not overflow: two expressions. The sign
/// of a singular matrix is 0, its logarithm -infinity.
/// extents   as of determinant
/// throws    as determinant
/// cost      that of determinant for each of the two
/// gradient  of `logabsdet`, where the matrix is not singular
/// example   const auto [sign, logarithm] = slogdet(a);
template <tensor_operand Matrix>
auto slogdet(Matrix&& a) {
  const auto node = as_node(std::forward<Matrix>(a));
  detail::check_square("slogdet", node);
  using sign_type = decltype(detail::make_determinant<detail::determinant_part::sign>(node));
  using logarithm_type = decltype(detail::make_determinant<detail::determinant_part::logarithm>(node));
  return sign_and_logarithm<sign_type, logarithm_type>{
      detail::make_determinant<detail::determinant_part::sign>(node),
      detail::make_determinant<detail::determinant_part::logarithm>(node)};
}

}  // namespace tenon
