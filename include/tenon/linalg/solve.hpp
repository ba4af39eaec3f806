// tenon/linalg/solve.hpp: Cholesky factors, solutions of systems, inverses, determinants, for users and within expressions.
// Each is an algorithm of expr/own_pass.hpp: the statement that holds it runs it, into its destination where it can.
// Floor 7: may include base, expr, algorithms, linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/lines.hpp>
#include <tenon/expr/own_pass.hpp>
#include <tenon/linalg/elimination.hpp>
#include <tenon/linalg/shapes.hpp>
#include <tenon/linalg/small_inverse.hpp>

namespace tenon {

/// `solve(a, b, {.positive_definite = true})`
struct solve_options {
  bool positive_definite = false;  ///< by Cholesky's factors; `a` is symmetric, what is above its diagonal is not read

  bool operator==(const solve_options&) const = default;
};

/// `solve_triangular(r, b, {.upper = true})`
struct triangular_options {
  bool upper = false;          ///< which triangle is read
  bool transposed = false;     ///< solves with the transposed matrix
  bool unit_diagonal = false;  ///< the diagonal is not read; its elements are 1

  bool operator==(const triangular_options&) const = default;
};

namespace detail {

/// Work memory that a type knows, or 0.
template <class... Extents>
inline constexpr index known_elements = 0;
template <index... N>
inline constexpr index known_elements<known_extent<N>...> = (N * ...);

template <class T, class Extent, class Source, class Target>
struct cholesky_pass {
  static constexpr index known_work = known_elements<Extent, Extent>;
  Source a;
  Target l;
  Extent n;

  TENON_HOST_DEVICE index work_size() const { return n * n; }
  TENON_HOST_DEVICE TENON_INLINE index operator()(index number, T* work) const {
    load_matrix(a[number], work, n, n);
    const index failed = factor_cholesky(work, n);
    if (failed >= 0) return failed;
    for (index i = 0; i < n; ++i) {
      for (index j = i + 1; j < n; ++j) work[i * n + j] = 0;
    }
    store_matrix(work, l[number], n, n);
    return -1;
  }
  TENON_HOST_DEVICE void refuse(index number) const { fill_with_nan(l[number]); }
};

/// How a system is solved.
enum class system_kind { general, positive_definite, triangular };

template <class T, class Extent, class Columns, class Left, class Right, class Target>
struct solve_pass {
  static constexpr index known_work = known_elements<Extent, Extent> + known_elements<Extent, Columns>;
  Left a;
  Right b;
  Target x;
  Extent n;
  Columns columns;
  system_kind kind;
  substitution how;

  TENON_HOST_DEVICE index work_size() const { return n * n + n * columns; }
  TENON_HOST_DEVICE TENON_INLINE index operator()(index number, T* work) const {
    T* const side = work + n * n;
    load_matrix(a[number], work, n, n);
    load_matrix(b[number], side, n, columns);
    const index failed = solve_in(work, side);
    if (failed < 0) store_matrix(side, x[number], n, columns);
    return failed;
  }
  TENON_HOST_DEVICE TENON_INLINE index solve_in(T* work, T* side) const {
    if (kind == system_kind::triangular) return substitute(work, side, n, columns, how);
    if (kind == system_kind::positive_definite) {
      const index failed = factor_cholesky(work, n);
      if (failed >= 0) return failed;
      substitute(work, side, n, columns, {false, false, false});
      return substitute(work, side, n, columns, {false, true, false});
    }
    index swaps = 0;
    const index failed = eliminate(work, side, n, columns, swaps);
    return failed >= 0 ? failed : substitute(work, side, n, columns, {true, false, false});
  }
  TENON_HOST_DEVICE void refuse(index number) const { fill_with_nan(x[number]); }
};

template <class T, class Extent, class Source, class Target>
struct inverse_pass {
  static constexpr bool has_cofactors = requires(T* a, Extent n) { invert_by_cofactors(a, a, n); };
  static constexpr index known_work = (has_cofactors ? 2 : 1) * known_elements<Extent, Extent> + known_elements<Extent>;
  Source a;
  Target inverse;
  Extent n;

  TENON_HOST_DEVICE index work_size() const { return n * n + n; }
  TENON_HOST_DEVICE TENON_INLINE index operator()(index number, T* work) const {
    load_matrix(a[number], work, n, n);
    if constexpr (has_cofactors) {
      T* const made = work + n * n + n;
      if (invert_by_cofactors(work, made, n)) {
        store_matrix(made, inverse[number], n, n);
        return -1;
      }
    }
    const index failed = invert(work, work + n * n, n);
    if (failed < 0) store_matrix(work, inverse[number], n, n);
    return failed;
  }
  TENON_HOST_DEVICE void refuse(index number) const { fill_with_nan(inverse[number]); }
};

/// A determinant, or its sign, or the logarithm of its magnitude.
enum class determinant_part { value, sign, logarithm };

template <class T, class Extent, class Source, class Target>
struct determinant_pass {
  static constexpr index known_work = known_elements<Extent, Extent>;
  Source a;
  Target result;
  Extent n;
  determinant_part part;

  TENON_HOST_DEVICE index work_size() const { return n * n; }
  TENON_HOST_DEVICE TENON_INLINE index operator()(index number, T* work) const {
    load_matrix(a[number], work, n, n);
    index swaps = 0;
    const index failed = eliminate(work, work, n, known_extent<0>{}, swaps);
    using element = std::remove_reference_t<decltype(result[number](0, 0))>;
    result[number](0, 0) = static_cast<element>(failed >= 0 ? of_singular(work[failed * n + failed]) : product(work, swaps));
    return -1;
  }
  TENON_HOST_DEVICE T of_singular(T pivot) const {
    if (pivot != 0) return pivot;  // NaN
    return part == determinant_part::logarithm ? -std::numeric_limits<T>::infinity() : T(0);
  }
  TENON_HOST_DEVICE TENON_INLINE T product(const T* work, index swaps) const {
    const T sign = swaps % 2 == 0 ? T(1) : T(-1);
    T result_value = part == determinant_part::logarithm ? T(0) : sign;
    for (index i = 0; i < n; ++i) {
      const T pivot = work[i * n + i];
      if (part == determinant_part::value) result_value *= pivot;
      else if (part == determinant_part::sign) result_value = pivot < 0 ? -result_value : result_value;
      else result_value += std::log(std::fabs(pivot));
    }
    return result_value;
  }
  TENON_HOST_DEVICE void refuse(index) const {}
};

/// Calls `body(n)` with the extent of square matrices, as a type where loops over it unroll.
template <class Shape, class Body>
void with_square_extent(const Shape& extents, const Body& body) {
  constexpr index known = Shape::static_extent(Shape::rank - 1);
  if constexpr (are_unrolled<known>) body(known_extent<known>{});
  else body(extents.extent(Shape::rank - 1));
}

/// Runs the pass `Pass<T, Extent, Source, Target>` on square matrices.
template <template <class, class, class, class> class Pass, int OwnOfTarget, class Target, class Operand, class... More>
void run_square(const matrix_operation& what, const Target& target, const Operand& operand, More... more) {
  using element = typename Operand::element;
  const auto source = in_memory(what.name, operand);
  const auto batch = batch_of<2>(source.shape());
  with_square_extent(source.shape(), [&](auto n) {
    const auto from = matrices_of<2>(source.elements, batch);
    const auto to = matrices_of<OwnOfTarget>(target, batch);
    using pass = Pass<element, decltype(n), std::remove_const_t<decltype(from)>, std::remove_const_t<decltype(to)>>;
    run_pass<element, typename Target::space>(what, batch, n * n * n, pass{from, to, n, more...});
  });
}

/// Runs a system of any kind.
template <class Target, class Left, class Right>
void run_solve(const matrix_operation& what, const Target& target, const Left& left, const Right& right,
               system_kind kind, substitution how) {
  using element = typename Left::element;
  using left_shape = typename Left::shape_type;
  using right_shape = typename Right::shape_type;
  constexpr int own = right_axes<left_shape, right_shape>;
  spaces_must_agree<typename Left::space, typename Right::space>();
  const auto a = in_memory(what.name, left);
  const auto b = in_memory(what.name, right);
  const auto batch = batch_of<own>(target.shape());
  const auto run = [&](auto n, auto columns) {
    auto matrices = matrices_of<2>(a.elements, batch);
    if (kind == system_kind::general && how.is_transposed) std::swap(matrices.row_stride, matrices.column_stride);
    const auto sides = matrices_of<own>(b.elements, batch);
    const auto to = matrices_of<own>(target, batch);
    using pass = solve_pass<element, decltype(n), decltype(columns), decltype(matrices),
                            std::remove_const_t<decltype(sides)>, std::remove_const_t<decltype(to)>>;
    run_pass<element, typename Target::space>(what, batch, n * n * (n + columns),
                                              pass{matrices, sides, to, n, columns, kind, how});
  };
  constexpr index known = left_shape::static_extent(left_shape::rank - 1);
  constexpr index known_columns = own == 1 ? 1 : right_shape::static_extent(right_shape::rank - 1);
  if constexpr (are_unrolled<known, known_columns>) run(known_extent<known>{}, known_extent<known_columns>{});
  else run(a.shape().extent(left_shape::rank - 1), own == 1 ? index{1} : b.shape().extent(right_shape::rank - 1));
}

inline constexpr const char* is_singular = "is singular";
inline constexpr const char* is_not_positive_definite = "is not positive definite";

}  // namespace detail

/// Cholesky's factor within an expression.
struct cholesky_algorithm {
  static constexpr const char* name = "cholesky";
  bool operator==(const cholesky_algorithm&) const = default;
  template <class Target, class Operand>
  void operator()(const Target& target, const Operand& operand) const {
    detail::run_square<detail::cholesky_pass, 2>({name, detail::is_not_positive_definite}, target, operand);
  }
};

/// The solution of systems within an expression; with the transposed matrices, as gradients do, where `Transposed`.
template <bool Transposed = false>
struct solve_algorithm {
  static constexpr const char* name = "solve";
  solve_options options;
  bool operator==(const solve_algorithm&) const = default;
  template <class Target, class Left, class Right>
  void operator()(const Target& target, const Left& left, const Right& right) const {
    using detail::system_kind;
    const bool is_positive = options.positive_definite;
    detail::run_solve({name, is_positive ? detail::is_not_positive_definite : detail::is_singular}, target, left, right,
                      is_positive ? system_kind::positive_definite : system_kind::general, {false, Transposed, false});
  }
};

/// The solution of triangular systems within an expression.
struct triangular_algorithm {
  static constexpr const char* name = "solve_triangular";
  triangular_options options;
  bool operator==(const triangular_algorithm&) const = default;
  template <class Target, class Left, class Right>
  void operator()(const Target& target, const Left& left, const Right& right) const {
    detail::run_solve({name, detail::is_singular}, target, left, right, detail::system_kind::triangular,
                      {options.upper, options.transposed, options.unit_diagonal});
  }
};

/// Inverses within an expression.
struct inverse_algorithm {
  static constexpr const char* name = "inverse";
  bool operator==(const inverse_algorithm&) const = default;
  template <class Target, class Operand>
  void operator()(const Target& target, const Operand& operand) const {
    detail::run_square<detail::inverse_pass, 2>({name, detail::is_singular}, target, operand);
  }
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
};

namespace detail {

template <class Algorithm, class Left, class Right>
auto make_solve(const Algorithm& algorithm, const Left& left, const Right& right) {
  return make_own_pass<typename Left::element>(algorithm, solution_extents<Algorithm>(left, right), left, right);
}
template <determinant_part Part, class Node>
auto make_determinant(const Node& node) {
  return make_own_pass<typename Node::element>(determinant_algorithm<Part>{}, leading_extents<2>(node.shape()), node);
}

}  // namespace detail

/// The lower triangular factor L of symmetric positive definite matrices L transpose(L). Only what is on and below
/// their diagonals is read; what is above that of L is 0.
/// extents   the operand's
/// throws    shape_error where the matrices are not square; linear_algebra_error, when the statement runs on the host,
///           where one is not positive definite; a device writes NaN there
/// cost      n^3 / 3 operations a matrix; the host's threads, or the threads of a device, share a batch
/// gradient  symmetric, as PyTorch's
/// example   l = cholesky(covariance);
template <tensor_operand Matrix>
auto cholesky(Matrix&& a) {
  const auto node = as_node(std::forward<Matrix>(a));
  detail::check_square("cholesky", node);
  return make_own_pass<typename decltype(node)::element>(cholesky_algorithm{}, node.shape(), node);
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
auto solve(Matrix&& a, Right&& b, solve_options options = {}) {
  const auto left = as_node(std::forward<Matrix>(a));
  const auto right = as_node(std::forward<Right>(b));
  return detail::make_solve(solve_algorithm<>{options}, left, right);
}

/// The solutions x of a x = b, of which only one triangle of `a` is read, the lower one where the options say no other.
/// extents   as of solve
/// throws    as solve, where an element of the diagonal is 0
/// cost      n^2 operations a column
/// gradient  of both sides; that of `a` is 0 outside the triangle
/// example   x = solve_triangular(r, c, {.upper = true});
template <tensor_operand Matrix, tensor_operand Right>
auto solve_triangular(Matrix&& a, Right&& b, triangular_options options = {}) {
  const auto left = as_node(std::forward<Matrix>(a));
  const auto right = as_node(std::forward<Right>(b));
  return detail::make_solve(triangular_algorithm{options}, left, right);
}

/// The inverses of matrices. `solve` is faster and more accurate where they are multiplied with something.
/// extents   the operand's
/// throws    as solve
/// cost      2 n^3 operations a matrix; up to 4 x 4 of static extents by cofactors, where these do not cancel
/// gradient  yes
/// example   a = inverse(a);
template <tensor_operand Matrix>
auto inverse(Matrix&& a) {
  const auto node = as_node(std::forward<Matrix>(a));
  detail::check_square("inverse", node);
  return make_own_pass<typename decltype(node)::element>(inverse_algorithm{}, node.shape(), node);
}

/// The determinants of matrices; 1 of matrices without rows.
/// extents   the operand's without the last two
/// throws    shape_error where the matrices are not square
/// cost      2 n^3 / 3 operations a matrix
/// gradient  where the matrix is not singular
template <tensor_operand Matrix>
auto determinant(Matrix&& a) {
  const auto node = as_node(std::forward<Matrix>(a));
  detail::check_square("determinant", node);
  return detail::make_determinant<detail::determinant_part::value>(node);
}

/// What slogdet gives.
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
