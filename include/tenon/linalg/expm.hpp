// tenon/linalg/expm.hpp: exponentials of matrices.
// A matrix is halved until a quotient of polynomials is exact, whose value is then squared as many times.
// Floor 7: may include base, core, expr, linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/generate.hpp>
#include <tenon/expr/own_pass.hpp>
#include <tenon/expr/views/concatenate.hpp>
#include <tenon/expr/views/permute.hpp>
#include <tenon/expr/views/slice.hpp>
#include <tenon/linalg/solve_passes.hpp>

namespace tenon {

namespace detail {

/// The norm up to which Pade's quotient of degree 7 is exact.
template <class T>
inline constexpr T pade_norm = std::is_same_v<T, float> ? T(3.9257247831386600) : T(0.95041789961629320);

/// to = left right, of square matrices.
template <class T, class Extent>
TENON_HOST_DEVICE void multiply_square(const T* left, const T* right, T* to, Extent n) {
  for (index i = 0; i < n; ++i) {
    for (index j = 0; j < n; ++j) to[i * n + j] = 0;
    for (index k = 0; k < n; ++k) {
      const T factor = left[i * n + k];
      for (index j = 0; j < n; ++j) to[i * n + j] += factor * right[k * n + j];
    }
  }
}

template <class T, class Extent, class Source, class Target>
struct expm_pass {
  static constexpr index known_work = 5 * known_elements<Extent, Extent>;
  Source a;
  Target result;
  Extent n;

  TENON_HOST_DEVICE index work_size() const { return 5 * n * n; }
  TENON_HOST_DEVICE index operator()(index number, T* work) const {
    const index size = n * n;
    T *const x = work, *const square = x + size, *const below = square + size;
    T *value = below + size, *other = value + size;
    load_matrix(a[number], x, n, n);
    T norm = norm_of(x), scale = 1;
    if (!(norm <= float_limits<T>::greatest)) return 0;
    index halvings = 0;
    for (; norm > pade_norm<T>; norm /= 2, scale /= 2) ++halvings;
    for (index i = 0; i < size; ++i) x[i] *= scale;
    multiply_square(x, x, square, n);
    set_polynomial<1>(square, below, value);
    multiply_square(x, below, other, n);
    set_polynomial<0>(square, below, value);
    for (index i = 0; i < size; ++i) {
      value[i] = below[i] + other[i];
      below[i] -= other[i];
    }
    index swaps = 0;
    const index failed = eliminate(below, value, n, n, swaps);
    if (failed >= 0) return failed;
    substitute(below, value, n, n, {.is_upper = true});
    for (; halvings > 0; --halvings) {
      multiply_square(value, value, other, n);
      T* const before = value;
      value = other, other = before;
    }
    store_matrix(value, result[number], n, n);
    return -1;
  }
  bool is_large() const { return false; }  // libraries have no such function
  template <class Space>
  bool run_in(const matrix_library<T>&, index, T*) const {
    return false;
  }
  TENON_HOST_DEVICE void refuse(index number) const { fill_with_nan(result[number]); }

 private:
  /// The greatest sum of magnitudes of a row. Elements that are NaN make pivots NaN, whatever it is.
  TENON_HOST_DEVICE T norm_of(const T* x) const {
    T greatest = 0;
    for (index i = 0; i < n; ++i) {
      T sum = 0;
      for (index j = 0; j < n; ++j) sum += std::fabs(x[i * n + j]);
      greatest = sum <= greatest ? greatest : sum;
    }
    return greatest;
  }
  TENON_HOST_DEVICE void add_to_diagonal(T* to, T number) const {
    for (index i = 0; i < n; ++i) to[i * n + i] += number;
  }
  /// The quotient's polynomial of even powers, or of odd ones, divided by the matrix, by its square.
  template <int First>
  TENON_HOST_DEVICE void set_polynomial(const T* square, T* to, T* other) const {
    constexpr T coefficients[] = {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1};
    for (index i = 0; i < n * n; ++i) to[i] = coefficients[First + 6] * square[i];
    add_to_diagonal(to, coefficients[First + 4]);
    multiply_square(to, square, other, n);
    add_to_diagonal(other, coefficients[First + 2]);
    multiply_square(other, square, to, n);
    add_to_diagonal(to, coefficients[First]);
  }
};

}  // namespace detail

/// Exponentials of matrices within an expression.
struct expm_algorithm : square_algorithm<expm_algorithm, detail::expm_pass> {
  static constexpr const char* name = "expm";
  static constexpr detail::matrix_operation what{name, "has a norm that is infinite or NaN", false};
  bool operator==(const expm_algorithm&) const = default;
};

/// The exponentials of matrices, 1 + a + a a / 2 + a a a / 6 + ..., as scipy.linalg.expm and torch.linalg.matrix_exp.
/// expm(t a) is the state at time t of what changes by a times itself.
/// extents   the operand's
/// throws    shape_error where the matrices are not square; linear_algebra_error, when the statement runs on the host,
///           where a norm is infinite or NaN; a device writes NaN there. Results that overflow are infinite or NaN
/// cost      8 products of matrices and a system, and a product for each time that the norm is halved to be at most 1
///           (of floats 4); the host's threads, or the threads of a device, share a batch
/// gradient  by the exponential of matrices of twice the extent
/// source    Higham 2005 (The Scaling and Squaring Method for the Matrix Exponential Revisited)
/// example   state = matmul(expm(0.1f * a), state);
template <tensor_operand Matrix>
auto expm(Matrix&& a) {
  detail::check_square("expm", a);
  return make_own_pass<typename node_of<Matrix>::element>(expm_algorithm{}, a.shape(), std::forward<Matrix>(a));
}

/// The gradient of the operand of an exponential, from the result's: what [[a^T, gradient], [0, a^T]] has above.
template <int, class T, class Shape, class Operand, class Gradient>
auto operand_gradient(const own_pass<expm_algorithm, T, Shape, Operand>& node, const Gradient& gradient) {
  const auto matrix = transpose(get<0>(node.operands));
  const auto above = concatenate(axis<-1>, matrix, cast<T>(gradient));
  const auto below = concatenate(axis<-1>, constants(matrix.shape(), T(0)), matrix);
  const index n = node.shape().extent(Shape::rank - 1);
  return narrow(narrow(expm(concatenate(axis<-2>, above, below)), axis<-2>, 0, n), axis<-1>, n, n);
}

}  // namespace tenon
