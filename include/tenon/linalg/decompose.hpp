// tenon/linalg/decompose.hpp: QR factors, eigenvalues of symmetric matrices and singular values, for users.
// They have several results: tensors at once, or, of an operand with variables, expressions that make one result each.
// Floor 7: may include base, core, expr, algorithms, linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/tensor.hpp>
#include <tenon/expr/own_pass.hpp>
#include <tenon/linalg/library_memory.hpp>
#include <tenon/linalg/orthogonal.hpp>
#include <tenon/linalg/passes.hpp>
#include <tenon/linalg/shapes.hpp>

namespace tenon {

/// Orthonormal columns and an upper triangle: `auto [q, r] = qr(a);`
template <class Q, class R>
struct orthogonal_and_triangular {
  Q q;
  R r;
};
/// Eigenvalues and the matrices whose columns are their vectors: `auto [values, vectors] = eigh(a);`
template <class Values, class Vectors>
struct values_and_vectors {
  Values values;
  Vectors vectors;
};
/// Singular values between their vectors: `auto [u, s, vh] = svd(a);`
template <class U, class S, class Vh>
struct singular_values {
  U u;
  S s;
  Vh vh;
};

namespace detail {

/// Vectors that lie one after another in work memory are the columns of a matrix.
template <class T, class To>
TENON_HOST_DEVICE void store_columns(const T* from, const matrix_elements<To>& to) {
  for (index i = 0; i < to.rows; ++i) {
    for (index j = 0; j < to.columns; ++j) to(i, j) = static_cast<To>(from[j * to.rows + i]);
  }
}

/// Passes write results whose batch has memory; where a result is not wanted, it has none.
template <class T, class Source, class Target>
struct qr_pass {
  static constexpr int results = 2;
  static constexpr index known_work = 0;
  Source a;
  array<Target, results> to;

  TENON_HOST_DEVICE index smaller() const { return a.rows < a.columns ? a.rows : a.columns; }
  TENON_HOST_DEVICE index work_size() const { return a.rows * (a.columns + smaller()) + smaller(); }
  TENON_HOST_DEVICE index operator()(index number, T* work) const {
    const index m = a.rows, n = a.columns, k = smaller();
    T *const product = work + m * n, *const factors = product + m * k;
    const auto from = a[number];
    for (index j = 0; j < n; ++j) {
      for (index i = 0; i < m; ++i) work[j * m + i] = from(i, j);
    }
    const T scale = scale_to_unit(work, m * n);
    if (!(scale > 0)) return 0;
    reflect_columns(work, factors, m, n);
    if (to[0].data != nullptr) {
      unfold_reflections(work, factors, product, m, k);
      store_columns(product, to[0][number]);
    }
    if (to[1].data != nullptr) {
      const auto triangle = to[1][number];
      using element = std::remove_reference_t<decltype(triangle(0, 0))>;
      for (index i = 0; i < k; ++i) {
        for (index j = 0; j < n; ++j)
          triangle(i, j) = i > j ? element(0) : static_cast<element>(work[j * m + i] * scale);
      }
    }
    return -1;
  }
  bool is_large() const { return smaller() >= least_factored; }
  template <class Space>
  bool run_in(const matrix_library<T>& library, index number, T* work) const {
    const auto own = columns_in(work, a.rows, a.columns);
    T* const factors = work + a.rows * a.columns;
    copy_matrix<Space>(a[number], own);
    if (!is_finite_matrix<Space>(own) || !library.reflect_columns(work, factors, a.rows, a.columns)) return false;
    if (to[1].data != nullptr) copy_matrix<Space>(own, to[1][number], matrix_half::upper);
    if (to[0].data == nullptr) return true;
    if (!library.unfold_reflections(work, factors, a.rows, smaller())) return false;
    copy_matrix<Space>(own, to[0][number]);
    return true;
  }
};

template <class T, class Source, class Target>
struct eigh_pass {
  static constexpr int results = 2;
  static constexpr index known_work = 0;
  Source a;
  array<Target, results> to;

  TENON_HOST_DEVICE index work_size() const { return 2 * a.rows * a.rows + a.rows; }
  TENON_HOST_DEVICE index operator()(index number, T* work) const {
    const index n = a.rows;
    T *const vectors = work + n * n, *const values = vectors + n * n;
    const auto from = a[number];
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j <= i; ++j) work[i * n + j] = work[j * n + i] = from(i, j);
    }
    const T scale = scale_to_unit(work, n * n);
    if (!(scale > 0)) return 0;
    rotate_symmetric(work, vectors, n);
    for (index i = 0; i < n; ++i) values[i] = work[i * n + i] * scale;
    numbered_vectors<T>{values, vectors, nullptr, n, 0, n}.sort(false);
    if (to[0].data != nullptr) store_columns(values, to[0][number]);
    if (to[1].data != nullptr) store_columns(vectors, to[1][number]);
    return -1;
  }
  bool is_large() const { return a.rows >= least_rotated; }
  template <class Space>
  bool run_in(const matrix_library<T>& library, index number, T* work) const {
    const index n = a.rows;
    const auto own = rows_in(work, n, n);
    T* const values = work + n * n;
    const bool has_vectors = to[1].data != nullptr;
    copy_matrix<Space>(a[number], own);
    if (!is_finite_matrix<Space>(own, matrix_half::lower) || !library.diagonalise(work, values, n, has_vectors)) {
      return false;
    }
    if (to[0].data != nullptr) copy_matrix<Space>(columns_in(values, n, 1), to[0][number]);
    if (has_vectors) copy_matrix<Space>(columns_in(work, n, n), to[1][number]);
    return true;
  }
};

template <class T, class Source, class Target>
struct svd_pass {
  static constexpr int results = 3;
  static constexpr index known_work = 0;
  Source a;
  array<Target, results> to;

  TENON_HOST_DEVICE index smaller() const { return a.rows < a.columns ? a.rows : a.columns; }
  TENON_HOST_DEVICE index work_size() const { return a.rows * a.columns + smaller() * smaller() + smaller(); }
  TENON_HOST_DEVICE index operator()(index number, T* work) const {
    const bool is_tall = a.rows >= a.columns;
    const index count = smaller(), length = is_tall ? a.rows : a.columns;
    T *const partners = work + length * count, *const values = partners + count * count;
    const auto from = a[number];
    for (index j = 0; j < count; ++j) {
      for (index i = 0; i < length; ++i) work[j * length + i] = is_tall ? from(i, j) : from(j, i);
    }
    const T scale = scale_to_unit(work, length * count);
    if (!(scale > 0)) return 0;
    order_vectors(work, partners, values, length);
    if (to[1].data != nullptr) {
      const auto target = to[1][number];
      using element = std::remove_reference_t<decltype(target(0, 0))>;
      for (index i = 0; i < count; ++i) target(i, 0) = static_cast<element>(values[i] * scale);
    }
    const int side = is_tall ? 0 : 2;
    if (to[0].data != nullptr) store_columns(side == 0 ? work : partners, to[0][number]);
    if (to[2].data != nullptr) store_columns(side == 2 ? work : partners, to[2][number].transposed());
    return -1;
  }
  bool is_large() const { return smaller() >= least_rotated; }
  template <class Space>
  bool run_in(const matrix_library<T>& library, index number, T* work) const {
    const bool is_tall = a.rows >= a.columns, has_vectors = to[0].data != nullptr || to[2].data != nullptr;
    const index count = smaller(), length = is_tall ? a.rows : a.columns;
    T *const partners = work + length * count, *const values = partners + count * count;
    const auto own = columns_in(work, length, count), others = columns_in(partners, count, count);
    copy_matrix<Space>(is_tall ? a[number] : a[number].transposed(), own);
    if (!is_finite_matrix<Space>(own)) return false;
    if (!library.decompose(work, has_vectors ? partners : nullptr, values, length, count)) return false;
    if (to[0].data != nullptr) copy_matrix<Space>(is_tall ? own : others.transposed(), to[0][number]);
    if (to[1].data != nullptr) copy_matrix<Space>(columns_in(values, count, 1), to[1][number]);
    if (to[2].data != nullptr) copy_matrix<Space>(is_tall ? others : own.transposed(), to[2][number]);
    return true;
  }
  /// Vectors of length 1 in the order of their singular values.
  TENON_HOST_DEVICE void order_vectors(T* work, T* partners, T* values, index length) const {
    constexpr T tiny = float_limits<T>::epsilon * float_limits<T>::epsilon;
    const index count = smaller();
    const rotated_vectors<T> all{work, partners, length, count, tiny * tiny};
    all.rotate();
    for (index i = 0; i < count; ++i) {
      values[i] = std::sqrt(inner_product(work + i * length, work + i * length, length));
    }
    numbered_vectors<T>{values, work, partners, length, count, count}.sort(true);
    for (index i = 0; i < count; ++i) {
      if (values[i] <= tiny) {
        all.complete(i);
      } else {
        for (index k = 0; k < length; ++k) work[i * length + k] /= values[i];
      }
    }
  }
};

/// A pass whose results are NaN where a matrix has none.
template <class Pass>
struct refusing_pass : Pass {
  TENON_HOST_DEVICE void refuse(index number) const {
    for (int i = 0; i < Pass::results; ++i) {
      if (this->to[i].data != nullptr) fill_with_nan(this->to[i][number]);
    }
  }
};

/// Runs a pass. It writes the results that have memory: batches of matrices.
template <template <class, class, class> class Pass, class Space, class Source, class Target, int Results>
void run_decomposition(const char* name, const Source& source, const array<Target, Results>& to) {
  using element = typename Source::element;
  const auto batch = batch_of<2>(source.shape());
  const auto from = matrices_of<2>(source.view(), batch);
  using from_type = std::remove_const_t<decltype(from)>;
  using pass = refusing_pass<Pass<element, from_type, Target>>;
  run_pass<element, Space>({name, "has elements that are infinite or NaN", false}, batch,
                           from.rows * from.columns * (from.rows + from.columns), pass{{from, to}});
}

/// The extents of results: those of the batch, followed by their own.
struct qr_extents {
  static constexpr const char* name = "qr";
  template <class Shape>
  static constexpr auto of(const Shape& a) {
    constexpr int rank = Shape::rank;
    const auto batch = leading_extents<2>(a);
    const auto k = smaller_extent(a);
    return make_tuple_of(batch_with(batch, batch_with(axes_of_shape<rank - 2, 1>(a), k)),
                         batch_with(batch, batch_with(k, axes_of_shape<rank - 1, 1>(a))));
  }
};
struct eigh_extents {
  static constexpr const char* name = "eigh";
  template <class Shape>
  static constexpr auto of(const Shape& a) {
    return make_tuple_of(leading_extents<1>(a), a);
  }
};
struct svd_extents {
  static constexpr const char* name = "svd";
  template <class Shape>
  static constexpr auto of(const Shape& a) {
    constexpr int rank = Shape::rank;
    const auto batch = leading_extents<2>(a);
    const auto k = smaller_extent(a);
    return make_tuple_of(batch_with(batch, batch_with(axes_of_shape<rank - 2, 1>(a), k)), batch_with(batch, k),
                         batch_with(batch, batch_with(k, axes_of_shape<rank - 1, 1>(a))));
  }
};

/// The matrices of a result. The axes behind those of the batch are the matrices' own.
template <int Batch, class View>
auto result_matrices(const View& target, const array<index, Batch>& batch) {
  return matrices_of<View::rank - Batch>(target, batch);
}

}  // namespace detail

/// One result of a decomposition within an expression.
template <template <class, class, class> class Pass, class Extents, int Part>
struct decomposition_algorithm {
  static constexpr const char* name = Extents::name;
  bool operator==(const decomposition_algorithm&) const = default;
  template <class Target, class Operand>
  void operator()(const Target& target, const Operand& operand) const {
    const auto source = detail::operand_in<typename Target::space>(name, operand);
    using matrices = decltype(detail::result_matrices(target, detail::batch_of<2>(source.shape())));
    constexpr int results = Pass<typename Operand::element, matrices, matrices>::results;
    array<matrices, results> to{};
    to[Part] = detail::result_matrices(target, detail::batch_of<2>(source.shape()));
    detail::run_decomposition<Pass, typename Target::space>(name, source, to);
  }
};

/// The names of decompositions.
template <int Part>
using qr_algorithm = decomposition_algorithm<detail::qr_pass, detail::qr_extents, Part>;
template <int Part>
using eigh_algorithm = decomposition_algorithm<detail::eigh_pass, detail::eigh_extents, Part>;
template <int Part>
using svd_algorithm = decomposition_algorithm<detail::svd_pass, detail::svd_extents, Part>;

namespace detail {

/// All results, as `finish(results...)` takes them: expressions where the operand has variables, else tensors.
template <template <class, class, class> class Pass, class Extents, class Operand, class Finish>
auto decompose(Operand&& operand, const Finish& finish) {
  using node = node_of<Operand>;
  using element = typename node::element;
  const auto extents = Extents::of(operand.shape());
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    if constexpr (depends_on<any_variable, node>) {
      const auto source = as_node(std::forward<Operand>(operand));
      return finish(make_own_pass<element>(decomposition_algorithm<Pass, Extents, I>{}, get<I>(extents), source)...);
    } else {
      const auto source = in_memory(Extents::name, std::forward<Operand>(operand));
      auto results =
          make_tuple_of(tensor<element, std::remove_cvref_t<decltype(get<I>(extents))>, algorithm_space<Operand>>(
              get<I>(extents))...);
      const auto batch = batch_of<2>(source.shape());
      const auto to = array<matrix_batch<element, node::shape_type::rank - 2>, sizeof...(I)>{
          {result_matrices(get<I>(results).write_view(), batch)...}};
      run_decomposition<Pass, algorithm_space<Operand>>(Extents::name, source, to);
      return finish(std::move(get<I>(results))...);
    }
  }(std::make_integer_sequence<int, std::remove_const_t<decltype(extents)>::count>{});
}

}  // namespace detail

/// Matrices as products of q, whose columns are orthonormal, and r, an upper triangle; both have as many columns or
/// rows as the smaller extent of a matrix. Elements of r's diagonal may be negative.
/// extents   q [..., m, min(m, n)], r [..., min(m, n), n]
/// throws    linear_algebra_error where elements are infinite or NaN; a device writes NaN there
/// cost      Householder's reflections, 4 m n min(m, n) operations a matrix; runs at once, on the host's threads or one
///           thread of a device a matrix
/// gradient  of an operand with variables the results are expressions; for matrices of full rank with m >= n
/// example   auto [q, r] = qr(a); x = solve_triangular(r, matmul(transpose(q), b), {.upper = true});
template <tensor_operand Matrix>
auto qr(Matrix&& a) {
  detail::must_be_matrices<node_of<Matrix>>();
  return detail::decompose<detail::qr_pass, detail::qr_extents>(
      std::forward<Matrix>(a),
      []<class Q, class R>(Q q, R r) { return orthogonal_and_triangular<Q, R>{std::move(q), std::move(r)}; });
}

/// The eigenvalues of symmetric matrices, ascending, and their vectors, orthonormal columns. Only what is on and below
/// the diagonals is read.
/// extents   values [..., n], vectors [..., n, n]
/// throws    shape_error where the matrices are not square; linear_algebra_error as qr
/// cost      Jacobi's rotations, about 30 n^3 operations a matrix; runs as qr
/// gradient  of an operand with variables the results are expressions; gradients of vectors need distinct eigenvalues
/// example   const auto [values, vectors] = eigh(covariance);
template <tensor_operand Matrix>
auto eigh(Matrix&& a) {
  detail::check_square("eigh", as_node(a));
  return detail::decompose<detail::eigh_pass, detail::eigh_extents>(
      std::forward<Matrix>(a), []<class Values, class Vectors>(Values values, Vectors vectors) {
        return values_and_vectors<Values, Vectors>{std::move(values), std::move(vectors)};
      });
}

/// Matrices as products u diag(s) vh: singular values, descending, between orthonormal columns and rows, as many as the
/// smaller extent of a matrix.
/// extents   u [..., m, min(m, n)], s [..., min(m, n)], vh [..., min(m, n), n]
/// throws    linear_algebra_error as qr
/// cost      one-sided Jacobi rotations, about 50 m n min(m, n) operations a matrix; runs as qr
/// gradient  of an operand with variables the results are expressions; gradients of `u` and `vh` need singular values
///           that are distinct and not 0
/// example   const auto [u, s, vh] = svd(x - mean(x, axis<0>));
template <tensor_operand Matrix>
auto svd(Matrix&& a) {
  detail::must_be_matrices<node_of<Matrix>>();
  return detail::decompose<detail::svd_pass, detail::svd_extents>(
      std::forward<Matrix>(a), []<class U, class S, class Vh>(U u, S s, Vh vh) {
        return singular_values<U, S, Vh>{std::move(u), std::move(s), std::move(vh)};
      });
}

}  // namespace tenon
