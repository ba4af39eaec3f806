// tenon/linalg/library_memory.hpp: how matrices come into the work memory of a library and out of it, in any space.
// The host copies by loops, a device by kernels.
// Floor 7: may include core, algorithms, linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/numbered.hpp>
#include <tenon/core/tensor.hpp>
#include <tenon/linalg/passes.hpp>

namespace tenon {

namespace detail {

/// Work memory as a matrix, row after row or column after column.
template <class T>
matrix_elements<T> rows_in(T* work, index rows, index columns) {
  return {work, rows, columns, columns, 1};
}
template <class T>
matrix_elements<T> columns_in(T* work, index rows, index columns) {
  return {work, rows, columns, 1, rows};
}

/// What counts of a matrix, beside its diagonal.
enum class matrix_half { both, lower, upper };

TENON_HOST_DEVICE inline bool is_within(matrix_half half, index row, index column) {
  return half == matrix_half::both || (half == matrix_half::lower ? column <= row : row <= column);
}

/// Copies an element by its number, 0 in place of what does not count.
template <class From, class To>
struct element_copy {
  matrix_elements<From> from;
  matrix_elements<To> to;
  matrix_half half;

  TENON_HOST_DEVICE void operator()(index number) const {
    const index i = number / to.columns, j = number - i * to.columns;
    to(i, j) = is_within(half, i, j) ? static_cast<To>(from(i, j)) : To(0);
  }
};

template <class Space, class From, class To>
void copy_matrix(const matrix_elements<From>& from, const matrix_elements<To>& to,
                 matrix_half half = matrix_half::both) {
  if constexpr (!Space::host_accessible) {
    for_each_number<Space>(to.rows * to.columns, 1, element_copy<From, To>{from, to, half});
  } else {
    for (index i = 0; i < to.rows; ++i) {
      const index first = half == matrix_half::upper ? i : 0;
      const index last = half == matrix_half::lower && i < to.columns ? i + 1 : to.columns;
      for (index j = 0; j < first && j < to.columns; ++j) to(i, j) = To(0);
      for (index j = first; j < last; ++j) to(i, j) = static_cast<To>(from(i, j));
      for (index j = last; j < to.columns; ++j) to(i, j) = To(0);
    }
  }
}

/// Notes that there is an element, by its number, which is not finite.
template <class T>
struct strange_elements {
  matrix_elements<T> matrix;
  matrix_half half;
  int* found;

  TENON_HOST_DEVICE void operator()(index number) const {
    const index i = number / matrix.columns, j = number - i * matrix.columns;
    if (is_within(half, i, j) && !(std::fabs(matrix(i, j)) <= float_limits<T>::greatest)) *found = 1;
  }
};
struct none_found {
  int* found;
  TENON_HOST_DEVICE void operator()(index) const { *found = 0; }
};

/// Whether the elements that count are finite. A device is waited for.
template <class Space, class T>
bool is_finite_matrix(const matrix_elements<T>& matrix, matrix_half half = matrix_half::both) {
  if constexpr (!Space::host_accessible) {
    tensor<int, shape<1>, Space> found;
    for_each_number<Space>(1, 1, none_found{found.data()});
    for_each_number<Space>(matrix.rows * matrix.columns, 1, strange_elements<T>{matrix, half, found.data()});
    return found.template to<host>()(0) == 0;
  } else {
    bool result = true;
    for (index i = 0; i < matrix.rows; ++i) {
      const index last = half == matrix_half::lower ? i + 1 : matrix.columns;
      for (index j = half == matrix_half::upper ? i : 0; j < last; ++j) {
        result &= std::fabs(matrix(i, j)) <= float_limits<T>::greatest;
      }
    }
    return result;
  }
}

}  // namespace detail

}  // namespace tenon
