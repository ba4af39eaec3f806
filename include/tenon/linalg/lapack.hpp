// tenon/linalg/lapack.hpp: large matrices of the host by LAPACK.
// Included on its own, beside linalg.hpp, in one file of a program or in several; it needs to link lapacke and lapack.
// Floor 7: may include base, core, linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lapacke.h>

#include <limits>
#include <tenon/core/storage.hpp>
#include <tenon/linalg/library.hpp>

namespace tenon {

namespace detail {

/// LAPACK's functions for elements of `T`.
template <class T>
struct lapack_of;
template <>
struct lapack_of<float> {
  static constexpr auto potrf = LAPACKE_spotrf;
  static constexpr auto posv = LAPACKE_sposv;
  static constexpr auto getrf = LAPACKE_sgetrf;
  static constexpr auto getrs = LAPACKE_sgetrs;
  static constexpr auto getri = LAPACKE_sgetri;
  static constexpr auto geqrf = LAPACKE_sgeqrf;
  static constexpr auto orgqr = LAPACKE_sorgqr;
  static constexpr auto syevd = LAPACKE_ssyevd;
  static constexpr auto gesdd = LAPACKE_sgesdd;
};
template <>
struct lapack_of<double> {
  static constexpr auto potrf = LAPACKE_dpotrf;
  static constexpr auto posv = LAPACKE_dposv;
  static constexpr auto getrf = LAPACKE_dgetrf;
  static constexpr auto getrs = LAPACKE_dgetrs;
  static constexpr auto getri = LAPACKE_dgetri;
  static constexpr auto geqrf = LAPACKE_dgeqrf;
  static constexpr auto orgqr = LAPACKE_dorgqr;
  static constexpr auto syevd = LAPACKE_dsyevd;
  static constexpr auto gesdd = LAPACKE_dgesdd;
};

/// LAPACK's matrices lie column after column: what it gets is a^T, so a lower triangle is an upper one there.
template <class T>
class lapack_library final : public matrix_library<T> {
 public:
  bool factor_cholesky(T* a, index n) const override {
    return is_counted(n) && lapack::potrf(LAPACK_COL_MAJOR, 'U', narrow(n), a, narrow(n)) == 0;
  }
  bool solve(T* a, T* b, index n, index columns) const override {
    if (!is_counted(n) || !is_counted(columns)) return false;
    storage<lapack_int, host> places(n);
    return factor(a, n, places.data()) && lapack::getrs(LAPACK_COL_MAJOR, 'T', narrow(n), narrow(columns), a, narrow(n),
                                                        places.data(), b, narrow(n)) == 0;
  }
  bool solve_positive(T* a, T* b, index n, index columns) const override {
    return is_counted(n) && is_counted(columns) &&
           lapack::posv(LAPACK_COL_MAJOR, 'U', narrow(n), narrow(columns), a, narrow(n), b, narrow(n)) == 0;
  }
  bool invert(T* a, index n) const override {
    if (!is_counted(n)) return false;
    storage<lapack_int, host> places(n);
    return factor(a, n, places.data()) && lapack::getri(LAPACK_COL_MAJOR, narrow(n), a, narrow(n), places.data()) == 0;
  }
  bool eliminate(T* a, index n, index& swaps) const override {
    if (!is_counted(n)) return false;
    storage<lapack_int, host> places(n);
    if (!factor(a, n, places.data())) return false;
    for (index i = 0; i < n; ++i) swaps += places.data()[i] != i + 1;  // counted from 1
    return true;
  }
  bool reflect_columns(T* columns, T* factors, index length, index count) const override {
    return is_counted(length) && is_counted(count) &&
           lapack::geqrf(LAPACK_COL_MAJOR, narrow(length), narrow(count), columns, narrow(length), factors) == 0;
  }
  bool unfold_reflections(T* columns, const T* factors, index length, index count) const override {
    return is_counted(length) && is_counted(count) &&
           lapack::orgqr(LAPACK_COL_MAJOR, narrow(length), narrow(count), narrow(count), columns, narrow(length),
                         factors) == 0;
  }
  bool diagonalise(T* a, T* values, index n, bool has_vectors) const override {
    return has_counted_work(n, n) &&
           lapack::syevd(LAPACK_COL_MAJOR, has_vectors ? 'V' : 'N', 'U', narrow(n), a, narrow(n), values) == 0;
  }
  bool decompose(T* columns, T* partners, T* values, index length, index count) const override {
    return has_counted_work(length, count) &&
           lapack::gesdd(LAPACK_COL_MAJOR, partners != nullptr ? 'O' : 'N', narrow(length), narrow(count), columns,
                         narrow(length), values, partners, narrow(count), partners, narrow(count)) == 0;
  }

 private:
  using lapack = lapack_of<T>;

  static bool factor(T* a, index n, lapack_int* places) {
    return lapack::getrf(LAPACK_COL_MAJOR, narrow(n), narrow(n), a, narrow(n), places) == 0;
  }
  static lapack_int narrow(index extent) { return static_cast<lapack_int>(extent); }
  static bool is_counted(index extent) { return extent <= std::numeric_limits<lapack_int>::max(); }
  /// Work memory of up to 7 times the elements of a matrix has a size that LAPACK counts.
  static bool has_counted_work(index rows, index columns) {
    return is_counted(rows) && is_counted(columns) && rows * columns <= std::numeric_limits<lapack_int>::max() / 8;
  }
};

template <class T>
inline constexpr lapack_library<T> lapack{};

/// From here on the program has this library.
inline const bool has_lapack = [] {
  library_of<float, host> = &lapack<float>;
  library_of<double, host> = &lapack<double>;
  return true;
}();

}  // namespace detail

}  // namespace tenon
