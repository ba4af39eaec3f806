// tests/linalg/matrices.hpp: matrices of plain numbers, and what is known of them without Tenon.
// Products by definition, determinants by Laplace's expansion, and matrices of Hilbert and Wilkinson.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <tenon/linalg.hpp>
#include <vector>

#include "algorithms/distant.hpp"
#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/text_of.hpp"

namespace tenon_test {

/// Rows one after another.
struct plain_matrix {
  tenon::index rows, columns;
  std::vector<double> values;

  plain_matrix(tenon::index m, tenon::index n) : rows(m), columns(n), values(static_cast<std::size_t>(m * n)) {}
  template <class Make>
  plain_matrix(tenon::index m, tenon::index n, const Make& make) : plain_matrix(m, n) {
    for (tenon::index i = 0; i < m; ++i) {
      for (tenon::index j = 0; j < n; ++j) (*this)(i, j) = make(i, j);
    }
  }
  double& operator()(tenon::index i, tenon::index j) { return values[static_cast<std::size_t>(i * columns + j)]; }
  double operator()(tenon::index i, tenon::index j) const { return values[static_cast<std::size_t>(i * columns + j)]; }
};

inline plain_matrix times(const plain_matrix& left, const plain_matrix& right) {
  return {left.rows, right.columns, [&](tenon::index i, tenon::index j) {
            double total = 0;
            for (tenon::index k = 0; k < left.columns; ++k) total += left(i, k) * right(k, j);
            return total;
          }};
}
inline plain_matrix transposed(const plain_matrix& matrix) {
  return {matrix.columns, matrix.rows, [&](tenon::index i, tenon::index j) { return matrix(j, i); }};
}
inline plain_matrix plain_identity(tenon::index n) {
  return {n, n, [](tenon::index i, tenon::index j) { return i == j ? 1.0 : 0.0; }};
}
/// Random numbers from -1 to 1, another matrix for each seed.
inline plain_matrix scattered_matrix(tenon::index m, tenon::index n, unsigned seed = 1) {
  std::mt19937 source(seed);
  return {m, n, [&](tenon::index, tenon::index) { return static_cast<double>(source()) / 2147483648.0 - 1.0; }};
}
/// Symmetric, with eigenvalues of at least 1.
inline plain_matrix positive_matrix(tenon::index n, unsigned seed = 1) {
  const plain_matrix x = scattered_matrix(n, n, seed);
  plain_matrix result = times(x, transposed(x));
  for (tenon::index i = 0; i < n; ++i) result(i, i) += 1;
  return result;
}
inline plain_matrix hilbert(tenon::index n) {
  return {n, n, [](tenon::index i, tenon::index j) { return 1.0 / static_cast<double>(i + j + 1); }};
}
/// The tridiagonal matrix whose greatest eigenvalues lie in close pairs.
inline plain_matrix wilkinson(tenon::index n) {
  return {n, n, [n](tenon::index i, tenon::index j) {
            if (i == j) return std::fabs(static_cast<double>(2 * i - n + 1) / 2);
            return i - j == 1 || j - i == 1 ? 1.0 : 0.0;
          }};
}
/// By expansion along the first row.
inline double laplace_determinant(const plain_matrix& a) {
  if (a.rows == 0) return 1;
  double total = 0;
  for (tenon::index column = 0; column < a.rows; ++column) {
    const plain_matrix rest(a.rows - 1, a.rows - 1,
                            [&](tenon::index i, tenon::index j) { return a(i + 1, j < column ? j : j + 1); });
    total += (column % 2 == 0 ? 1 : -1) * a(0, column) * laplace_determinant(rest);
  }
  return total;
}

/// The greatest difference of two matrices; NaN where an element of them is.
inline double farthest(const plain_matrix& left, const plain_matrix& right) {
  REQUIRE(left.values.size() == right.values.size());
  double most = 0;
  for (std::size_t i = 0; i < left.values.size(); ++i) {
    const double distance = std::fabs(left.values[i] - right.values[i]);
    most = distance > most || std::isnan(distance) ? distance : most;
  }
  return most;
}

/// A batch of matrices as a tensor of `Space`, and back.
template <class T, class Space = tenon::host>
auto batch_of_matrices(const std::vector<plain_matrix>& all) {
  std::vector<T> values;
  for (const plain_matrix& each : all) {
    for (const double value : each.values) values.push_back(static_cast<T>(value));
  }
  return tensor_of<Space, T>(tenon::rank<3>(static_cast<tenon::index>(all.size()), all.at(0).rows, all.at(0).columns),
                             values);
}
template <class Operand>
std::vector<plain_matrix> matrices_from(const Operand& operand) {
  const auto values = numbers_of(operand);
  const auto extents = extents_of(operand);
  const tenon::index rows = extents[extents.size() - 2], columns = extents.back();
  std::vector<plain_matrix> result;
  const auto size = static_cast<std::size_t>(rows * columns);
  for (std::size_t first = 0; size != 0 && first < values.size(); first += size) {
    result.emplace_back(rows, columns);
    for (std::size_t i = 0; i < size; ++i) result.back().values[i] = values[first + i];
  }
  return result;
}

/// How far the columns of a matrix are from orthonormal ones.
inline double distance_from_orthonormal(const plain_matrix& columns) {
  return farthest(times(transposed(columns), columns), plain_identity(columns.columns));
}

template <class T>
constexpr double linalg_bound = std::is_same_v<T, float> ? 2e-5 : 2e-13;

}  // namespace tenon_test
