// tenon/linalg/library.hpp: what a library runs in place of passes, for one matrix after another.
// A program has one library or none for a space, so that a statement means the same in all of its files.
// Floor 7: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <tenon/base/array.hpp>
#include <tenon/core/space.hpp>
#include <type_traits>

namespace tenon {

namespace detail {

/// Extents from which a library is faster, of factors and of what passes rotate. Measured with OpenBLAS on an AMD EPYC.
inline constexpr index least_factored = 64, least_rotated = 24;

/// Functions for one matrix in work memory of a space, in place. Rows lie one after another where nothing else is said,
/// right sides `b` column after column. What is read of a matrix is finite. Each returns whether there is a result;
/// where there is none, the pass runs, so that the same matrices are refused with and without a library.
template <class T>
class matrix_library {
 public:
  /// The factor on and below the diagonal.
  virtual bool factor_cholesky(T* a, index n) const = 0;
  /// b = a^-1 b
  virtual bool solve(T* a, T* b, index n, index columns) const = 0;
  /// The same by Cholesky's factors, of what is on and below the diagonal.
  virtual bool solve_positive(T* a, T* b, index n, index columns) const = 0;
  virtual bool invert(T* a, index n) const = 0;
  /// Pivots on the diagonal, and how many rows or columns changed places.
  virtual bool eliminate(T* a, index n, index& swaps) const = 0;
  /// Column after column: R on and above the diagonal, below it reflections with their `factors`.
  virtual bool reflect_columns(T* columns, T* factors, index length, index count) const = 0;
  /// The first `count` columns of the product of `count` reflections, where these are.
  virtual bool unfold_reflections(T* columns, const T* factors, index length, index count) const = 0;
  /// Eigenvalues, ascending, of what is on and below the diagonal; their vectors in rows, where these are wanted.
  virtual bool diagonalise(T* a, T* values, index n, bool has_vectors) const = 0;
  /// Singular values, descending, of `count` columns, no more than their `length`. Left vectors replace the columns,
  /// right ones are the rows of `partners`, column after column. Values alone, if there are no partners.
  virtual bool decompose(T* columns, T* partners, T* values, index length, index count) const = 0;

 protected:
  ~matrix_library() = default;
};

/// The library of this program for work memory of a space, if it has one.
template <class T, class Space>
inline std::atomic<const matrix_library<T>*> library_of{nullptr};

/// That for matrices of a space: all memory that the host reads is worked on by the host.
template <class T, class Space>
const matrix_library<T>* current_library() {
  return library_of<T, std::conditional_t<Space::host_accessible, host, Space>>.load(std::memory_order_acquire);
}

}  // namespace detail

}  // namespace tenon
