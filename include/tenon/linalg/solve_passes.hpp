// tenon/linalg/solve_passes.hpp: what runs factors, systems, inverses and determinants.
// A pass for one matrix, on the host or a device; who runs it on a batch, or on one small matrix without a loop.
// Floor 7: may include base, core, algorithms, linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/linalg/few_rows.hpp>
#include <tenon/linalg/library_memory.hpp>
#include <tenon/linalg/shapes.hpp>
#include <tenon/linalg/small_inverse.hpp>

namespace tenon {

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
    const index failed = factor_cholesky<false>(work, n);
    if (failed >= 0) return failed;
    for (index i = 0; i < n; ++i) {
      for (index j = i + 1; j < n; ++j) work[i * n + j] = 0;
    }
    store_matrix(work, l[number], n, n);
    return -1;
  }
  bool is_large() const { return n >= least_factored; }
  template <class Space>
  bool run_in(const matrix_library<T>& library, index number, T* work) const {
    const auto own = rows_in(work, n, n);
    copy_matrix<Space>(a[number], own);
    if (!is_finite_matrix<Space>(own, matrix_half::lower) || !library.factor_cholesky(work, n)) return false;
    copy_matrix<Space>(own, l[number], matrix_half::lower);
    return true;
  }
  TENON_HOST_DEVICE void refuse(index number) const { fill_with_nan(l[number]); }
};

/// How a system is solved; triangles of factors have independent columns.
enum class system_kind { general, positive_definite, triangular, factor };

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
    if (kind != system_kind::positive_definite) return solve_in(number, work, kind);
    if constexpr (known_work == 0) {
      return solve_in(number, work, system_kind::positive_definite);
    } else {
      T own[known_work];  // no rows change places: it may stay in registers
      return solve_in(number, own, system_kind::positive_definite);
    }
  }
  template <bool Divides = false>
  TENON_HOST_DEVICE TENON_INLINE index solve_in(index number, T* work, system_kind way) const {
    T* const side = work + n * n;
    if constexpr (has_few_rows<Extent, Columns>) {
      load_few_rows(a[number], work, n, n);
      load_few_rows(b[number], side, n, columns);
    } else {
      load_matrix(a[number], work, n, n);
      load_matrix(b[number], side, n, columns);
    }
    const index failed = solve_loaded<Divides>(work, side, way);
    if (failed < 0) store_matrix(side, x[number], n, columns);
    return failed;
  }
  /// What failed once more, by divisions: a pivot may have no reciprocal. In memory of its own where that is small,
  /// since what this takes would leave registers.
  TENON_HOST_DEVICE [[gnu::noinline, gnu::cold]] index divide(index number, [[maybe_unused]] T* work) const {
    if constexpr (known_work == 0) {
      return solve_in<true>(number, work, kind);
    } else {
      T own[known_work];
      return solve_in<true>(number, own, kind);
    }
  }
  template <bool Divides>
  TENON_HOST_DEVICE TENON_INLINE index solve_loaded(T* work, T* side, system_kind way) const {
    if (way == system_kind::triangular) return substitute<Divides>(work, side, n, columns, how);
    if (way == system_kind::factor) return substitute_factor<Divides>(work, side, n, columns, how);
    if (way == system_kind::positive_definite) {
      const index failed = factor_cholesky<true>(work, n);
      if (failed >= 0) return failed;
      substitute(work, side, n, columns, {false, false, diagonal_kind::reciprocals});
      return substitute(work, side, n, columns, {false, true, diagonal_kind::reciprocals});
    }
    if constexpr (has_few_rows<Extent, Columns>) return solve_few_rows<Divides>(work, side, n, columns);
    index swaps = 0;
    const index failed = eliminate<Divides>(work, side, n, columns, swaps);
    return failed >= 0 ? failed : substitute<Divides>(work, side, n, columns, {.is_upper = true});
  }
  /// No library is faster with triangles.
  bool is_large() const { return n >= least_factored && kind < system_kind::triangular; }
  template <class Space>
  bool run_in(const matrix_library<T>& library, index number, T* work) const {
    const bool is_positive = kind == system_kind::positive_definite;
    const auto own = rows_in(work, n, n);
    T* const side = work + n * n;
    copy_matrix<Space>(a[number], own);
    if (!is_finite_matrix<Space>(own, is_positive ? matrix_half::lower : matrix_half::both)) return false;
    copy_matrix<Space>(b[number], columns_in(side, n, columns));
    if (!(is_positive ? library.solve_positive(work, side, n, columns) : library.solve(work, side, n, columns))) {
      return false;
    }
    copy_matrix<Space>(columns_in(side, n, columns), x[number]);
    return true;
  }
  TENON_HOST_DEVICE void refuse(index number) const { fill_with_nan(x[number]); }
};

template <class T, class Extent, class Source, class Target>
struct inverse_pass {
  static constexpr bool has_cofactors = requires(T* a, Extent n) { invert_by_cofactors(a, a, n); };
  static constexpr bool has_packs = requires(Source a, Target to, Extent n) { invert_by_packs<T>(a[0], to[0], n); };
  static constexpr index known_work = known_elements<Extent, Extent> + known_elements<Extent>;
  Source a;
  Target inverse;
  Extent n;

  TENON_HOST_DEVICE index work_size() const { return n * n + n; }
  TENON_HOST_DEVICE TENON_INLINE index operator()(index number, T* work) const {
    if constexpr (has_cofactors) {
      T own[known_work], made[known_work];
      load_matrix(a[number], own, n, n);
      if (invert_by_cofactors(own, made, n)) {
        store_matrix(made, inverse[number], n, n);
        return -1;
      }
    } else if constexpr (has_packs) {
      if (invert_by_packs<T>(a[number], inverse[number], n)) return -1;
    }
    load_matrix(a[number], work, n, n);
    const index failed = invert(work, work + n * n, n);
    if (failed < 0) store_matrix(work, inverse[number], n, n);
    return failed;
  }
  bool is_large() const { return n >= least_factored; }
  template <class Space>
  bool run_in(const matrix_library<T>& library, index number, T* work) const {
    const auto own = rows_in(work, n, n);
    copy_matrix<Space>(a[number], own);
    if (!is_finite_matrix<Space>(own) || !library.invert(work, n)) return false;
    copy_matrix<Space>(own, inverse[number]);
    return true;
  }
  TENON_HOST_DEVICE void refuse(index number) const { fill_with_nan(inverse[number]); }
};

/// A determinant, or its sign, or the logarithm of its magnitude.
enum class determinant_part { value, sign, logarithm };

/// Writes the determinant of a matrix that has been eliminated.
template <class Pass>
struct product_of_pivots {
  Pass pass;
  typename Pass::value* work;
  index number, swaps;

  TENON_HOST_DEVICE void operator()(index) const {
    const auto to = pass.result[number];
    to(0, 0) = static_cast<std::remove_reference_t<decltype(to(0, 0))>>(pass.product(work, swaps));
  }
};

template <class T, class Extent, class Source, class Target>
struct determinant_pass {
  using value = T;
  static constexpr bool has_cofactors = requires(const T* a, Extent n) { determinant_by_cofactors(a, n); };
  static constexpr index known_work = known_elements<Extent, Extent>;
  Source a;
  Target result;
  Extent n;
  determinant_part part;

  TENON_HOST_DEVICE index work_size() const { return n * n; }
  TENON_HOST_DEVICE TENON_INLINE index operator()(index number, T* work) const {
    using element = std::remove_reference_t<decltype(result[number](0, 0))>;
    load_matrix(a[number], work, n, n);
    if constexpr (has_cofactors) {
      if (const auto terms = determinant_by_cofactors(work, n); terms.is_accurate()) {
        result[number](0, 0) = static_cast<element>(of_regular(terms.sum));
        return -1;
      }
    }
    index swaps = 0;
    const index failed = eliminate(work, work, n, known_extent<0>{}, swaps);
    if (failed >= 0) {
      if constexpr (known_work == 0) write_again(number, work);
      else determinant_pass(*this).write_again(number);
    } else {
      result[number](0, 0) = static_cast<element>(product(work, swaps));
    }
    return -1;
  }
  /// By divisions, where a pivot has no reciprocal; in memory of its own, as systems.
  TENON_HOST_DEVICE [[gnu::noinline, gnu::cold]] void write_again(index number) const {
    T own[known_work + 1];
    write_again(number, own);
  }
  TENON_HOST_DEVICE void write_again(index number, T* work) const {
    using element = std::remove_reference_t<decltype(result[number](0, 0))>;
    load_matrix(a[number], work, n, n);
    index swaps = 0;
    const index failed = eliminate<true>(work, work, n, known_extent<0>{}, swaps);
    result[number](0, 0) =
        static_cast<element>(failed >= 0 ? of_singular(work[failed * n + failed]) : product(work, swaps));
  }
  bool is_large() const { return n >= least_factored; }
  template <class Space>
  bool run_in(const matrix_library<T>& library, index number, T* work) const {
    const auto own = rows_in(work, n, n);
    index swaps = 0;
    copy_matrix<Space>(a[number], own);
    if (!is_finite_matrix<Space>(own) || !library.eliminate(work, n, swaps)) return false;
    for_each_number<Space>(1, 1, product_of_pivots<determinant_pass>{*this, work, number, swaps});
    return true;
  }
  TENON_HOST_DEVICE TENON_INLINE T of_regular(T determinant) const {
    if (part == determinant_part::logarithm) return std::log(std::fabs(determinant));
    return part == determinant_part::value ? determinant : determinant < 0 ? T(-1) : T(1);
  }
  TENON_HOST_DEVICE T of_singular(T pivot) const {
    if (pivot != 0) return pivot;  // NaN
    return part == determinant_part::logarithm ? -float_limits<T>::infinity : T(0);
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

/// The pass of square matrices into results whose last `Own` axes are no batch.
template <template <class, class, class, class> class Pass, int Own, class Target, class View, class Extent, int Batch,
          class... More>
auto square_pass(const Target& target, const View& matrices, Extent n, const array<index, Batch>& batch,
                 const More&... more) {
  using from = matrix_batch<const typename View::element, Batch>;
  using to = matrix_batch<typename Target::element, Batch>;
  return Pass<typename View::element, Extent, from, to>{matrices_of<2>(matrices, batch),
                                                        matrices_of<Own>(target, batch), n, more...};
}

/// Runs the pass `Pass<T, Extent, Source, Target>` on square matrices.
template <template <class, class, class, class> class Pass, int Own, class Target, class Operand, class... More>
void run_square(const matrix_operation& what, const Target& target, const Operand& operand, const More&... more) {
  const auto source = operand_in<typename Target::space>(what.name, operand);
  const auto batch = batch_of<2>(source.shape());
  with_square_extent(source.shape(), [&](auto n) {
    run_pass<typename Operand::element, typename Target::space>(
        what, batch, n * n * n, square_pass<Pass, Own>(target, source.view(), n, batch, more...));
  });
}

/// Whether one small matrix is all there is to do.
template <class Target, class Operand>
inline constexpr bool is_small_square = [] {
  using extents = typename Operand::shape_type;
  if constexpr (!is_one_small_matrix<Target, Operand> || extents::rank != 2) return false;
  else return are_unrolled<extents::static_extent(1)>;
}();

template <template <class, class, class, class> class Pass, int Own, class Target, class Operand, class... More>
TENON_INLINE bool run_small_square(const Target& target, const Operand& operand, const More&... more) {
  constexpr known_extent<Operand::shape_type::static_extent(1)> n;
  return run_small_pass<typename Operand::element>(
      square_pass<Pass, Own>(target, operand.view(), n, array<index, 0>{}, more...));
}

/// How a system is solved, and what is said where it cannot be.
struct system_options {
  matrix_operation what;
  system_kind kind;
  substitution how;
};

/// The pass of systems whose right sides have `Own` axes.
template <int Own, class Target, class Left, class Right, class Extent, class Columns, int Batch>
TENON_INLINE auto system_pass(const Target& target, const Left& left, const Right& right, Extent n, Columns columns,
                              const array<index, Batch>& batch, const system_options& options) {
  using element = typename Left::element;
  using from = matrix_batch<const element, Batch>;
  using to = matrix_batch<typename Target::element, Batch>;
  solve_pass<element, Extent, Columns, from, from, to> pass{matrices_of<2>(left, batch),
                                                            matrices_of<Own>(right, batch),
                                                            matrices_of<Own>(target, batch),
                                                            n,
                                                            columns,
                                                            options.kind,
                                                            options.how};
  if (options.kind == system_kind::general && options.how.is_transposed) {
    std::swap(pass.a.row_stride, pass.a.column_stride);
  }
  return pass;
}

/// The columns of right sides as types know them.
template <class Left, class Right>
inline constexpr index known_columns = [] {
  if constexpr (right_axes<Left, Right> == 1) return index{1};
  else return Right::static_extent(Right::rank - 1);
}();

/// Runs systems of any kind.
template <class Target, class Left, class Right>
void run_solve(const system_options& options, const Target& target, const Left& left, const Right& right) {
  using left_shape = typename Left::shape_type;
  using right_shape = typename Right::shape_type;
  using space = typename Target::space;
  constexpr int own = right_axes<left_shape, right_shape>;
  const auto a = operand_in<space>(options.what.name, left);
  const auto b = operand_in<space>(options.what.name, right);
  const auto batch = batch_of<own>(target.shape());
  const auto run = [&](auto n, auto columns) {
    run_pass<typename Left::element, space>(options.what, batch, n * n * (n + columns),
                                            system_pass<own>(target, a.view(), b.view(), n, columns, batch, options));
  };
  constexpr index known = left_shape::static_extent(left_shape::rank - 1);
  constexpr index columns = known_columns<left_shape, right_shape>;
  if constexpr (are_unrolled<known, columns>) run(known_extent<known>{}, known_extent<columns>{});
  else run(a.shape().extent(left_shape::rank - 1), own == 1 ? index{1} : b.shape().extent(right_shape::rank - 1));
}

template <class Target, class Left, class Right>
inline constexpr bool is_small_system = [] {
  using left_shape = typename Left::shape_type;
  using right_shape = typename Right::shape_type;
  if constexpr (!is_one_small_matrix<Target, Left, Right> || left_shape::rank != 2 || right_shape::rank > 2)
    return false;
  else return are_unrolled<left_shape::static_extent(1), known_columns<left_shape, right_shape>>;
}();

template <class Target, class Left, class Right>
TENON_INLINE bool run_small_system(const system_options& options, const Target& target, const Left& left,
                                   const Right& right) {
  using left_shape = typename Left::shape_type;
  using right_shape = typename Right::shape_type;
  constexpr known_extent<left_shape::static_extent(1)> n;
  constexpr known_extent<known_columns<left_shape, right_shape>> columns;
  return run_small_pass<typename Left::element>(system_pass<right_axes<left_shape, right_shape>>(
      target, left.view(), right.view(), n, columns, array<index, 0>{}, options));
}

}  // namespace detail

/// How an algorithm runs that makes a square matrix of each; `Own::what` names it in errors.
template <class Own, template <class, class, class, class> class Pass>
struct square_algorithm {
  bool operator==(const square_algorithm&) const = default;
  template <class Target, class Operand>
  void operator()(const Target& target, const Operand& operand) const {
    detail::run_square<Pass, 2>(Own::what, target, operand);
  }
  template <class Target, class Operand>
  static constexpr bool runs_small = detail::is_small_square<Target, Operand>;
  template <class Target, class Operand>
  TENON_INLINE bool run_small(const Target& target, const Operand& operand) const {
    return detail::run_small_square<Pass, 2>(target, operand);
  }
};

}  // namespace tenon
