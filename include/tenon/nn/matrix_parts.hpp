// tenon/nn/matrix_parts.hpp: rows and columns of a matrix as views, and products that are added to one.
// What sequences are made of: each time step is some rows of one matrix.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/matmul.hpp>
#include <tenon/expressions.hpp>

namespace tenon::nn {

/// A matrix in memory, its rows any distance apart.
template <dtype T, memory_space Space>
using matrix_view = view<T, rank<2>, Space>;

/// A matrix without elements.
template <dtype T, memory_space Space>
matrix_view<T, Space> no_matrix() {
  return {nullptr, rank<2>(0, 0)};
}

/// The rows `first` to `first + count - 1`.
template <dtype T, memory_space Space>
matrix_view<T, Space> rows_of(const matrix_view<T, Space>& matrix, index first, index count) {
  T* const start = count == 0 ? matrix.data() : matrix.data() + first * matrix.strides()[0];
  return {start, rank<2>(count, matrix.extent(1)), matrix.strides()};
}

/// The columns `first` to `first + count - 1`.
template <dtype T, memory_space Space>
matrix_view<T, Space> columns_of(const matrix_view<T, Space>& matrix, index first, index count) {
  T* const start = matrix.size() == 0 ? matrix.data() : matrix.data() + first;
  return {start, rank<2>(matrix.extent(0), count), matrix.strides()};
}

/// sum += left right, one kernel.
template <dtype T, memory_space Space, class Left, class Right>
void add_product(const matrix_view<T, Space>& sum, const Left& left, const Right& right) {
  sum = matmul(left, right) + sum;
}

}  // namespace tenon::nn
