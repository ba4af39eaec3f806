// tests/linalg/large_matrices.hpp: results for large matrices in a memory space, against what defines them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "linalg/matrices.hpp"

namespace tenon_test {

/// Errors of a result grow with the extents, those of systems of random matrices with their condition.
template <class T>
double bound_of(tenon::index n) {
  return linalg_bound<T> * static_cast<double>(n);
}

/// Random numbers on one side of the diagonal, and a diagonal near 1 whose signs differ.
inline plain_matrix triangle(tenon::index n, bool is_upper, unsigned seed) {
  const plain_matrix all = scattered_matrix(n, n, seed);
  return {n, n, [&](tenon::index i, tenon::index j) {
            if (i == j) return (i % 3 == 0 ? -1 : 1) * (1 + all(i, j) / 4);
            return (i < j) == is_upper ? all(i, j) / static_cast<double>(n) : 0.0;
          }};
}
inline double product_of_diagonal(const plain_matrix& a) {
  double product = 1;
  for (tenon::index i = 0; i < a.rows; ++i) product *= a(i, i);
  return product;
}
inline std::vector<plain_matrix> random_batch(tenon::index m, tenon::index n) {
  return {scattered_matrix(m, n, 31), scattered_matrix(m, n, 32)};
}
inline std::vector<plain_matrix> positive_batch(tenon::index n) {
  return {positive_matrix(n, 31), positive_matrix(n, 32)};
}
/// NaN above the diagonal, which is not read, or below it.
inline std::vector<plain_matrix> half_of(std::vector<plain_matrix> all, bool is_lower = true) {
  for (plain_matrix& each : all) {
    for (tenon::index i = 0; i < each.rows; ++i) {
      for (tenon::index j = i + 1; j < each.columns; ++j) (is_lower ? each(i, j) : each(j, i)) = std::nan("");
    }
  }
  return all;
}

/// Whether `left[i] x[i]` is `right[i]`, relative to what is multiplied.
inline void check_products(const std::vector<plain_matrix>& left, const std::vector<plain_matrix>& x,
                           const std::vector<plain_matrix>& right, double bound) {
  REQUIRE(x.size() == right.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double size = farthest(x[i], plain_matrix(x[i].rows, x[i].columns));
    CHECK(farthest(times(left[i % left.size()], x[i]), right[i]) < bound * (1 + size));
  }
}

template <class T, class Space = tenon::host>
void check_factors_and_systems(tenon::index n) {
  const auto positive = positive_batch(n), any = random_batch(n, n), sides = random_batch(n, 3);
  const auto lower = batch_of_matrices<T, Space>(half_of(positive)), a = batch_of_matrices<T, Space>(any),
             b = batch_of_matrices<T, Space>(sides);
  const auto factors = matrices_from(tenon::evaluated_tensor<Space>(tenon::cholesky(lower)));
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(farthest(times(factors[i], transposed(factors[i])), positive[i]) < bound_of<T>(n));
    for (tenon::index row = 0; row < n; ++row) {
      for (tenon::index column = row + 1; column < n; ++column) REQUIRE(factors[i](row, column) == 0);
    }
  }
  check_products(any, matrices_from(tenon::evaluated_tensor<Space>(tenon::solve(a, b))), sides, bound_of<T>(n));
  check_products(positive,
                 matrices_from(tenon::evaluated_tensor<Space>(tenon::solve(lower, b, {.positive_definite = true}))),
                 sides, bound_of<T>(n));
  const std::vector<plain_matrix> identities(2, plain_identity(n));
  check_products(any, matrices_from(tenon::evaluated_tensor<Space>(tenon::inverse(a))), identities, bound_of<T>(n));
  for (int choice = 0; choice < 8; ++choice) {
    const tenon::triangular_options options{(choice & 1) != 0, (choice & 2) != 0, (choice & 4) != 0};
    std::vector<plain_matrix> triangles{triangle(n, options.upper, 1), triangle(n, options.upper, 2)};
    const auto read = batch_of_matrices<T, Space>(half_of(triangles, !options.upper));
    for (plain_matrix& each : triangles) {
      for (tenon::index i = 0; i < n && options.unit_diagonal; ++i) each(i, i) = 1;
      if (options.transposed) each = transposed(each);
    }
    check_products(triangles, matrices_from(tenon::evaluated_tensor<Space>(tenon::solve_triangular(read, b, options))),
                   sides, bound_of<T>(n));
  }
}

template <class T, class Space = tenon::host>
void check_determinants(tenon::index n) {
  const plain_matrix l = triangle(n, false, 3), u = triangle(n, true, 4);
  plain_matrix product = times(l, u), swapped = product;
  for (tenon::index j = 0; j < n; ++j) std::swap(swapped(0, j), swapped(n - 1, j));
  const double expected = product_of_diagonal(l) * product_of_diagonal(u);
  const auto a = batch_of_matrices<T, Space>({product, swapped});
  const auto found = numbers_of(tenon::evaluated_tensor<Space>(tenon::determinant(a))),
             signs = numbers_of(tenon::evaluated_tensor<Space>(tenon::slogdet(a).sign)),
             logarithms = numbers_of(tenon::evaluated_tensor<Space>(tenon::slogdet(a).logabsdet));
  for (const std::size_t i : {0u, 1u}) {
    const double sign = i == 0 ? 1 : -1;
    CHECK(std::fabs(sign * found[i] / expected - 1) < bound_of<T>(n));
    CHECK(signs[i] == (sign * expected > 0 ? 1 : -1));
    CHECK(std::fabs(logarithms[i] - std::log(std::fabs(expected))) < bound_of<T>(n));
  }
}

template <class T, class Space = tenon::host>
void check_qr(tenon::index m, tenon::index n) {
  const auto all = random_batch(m, n);
  const auto [q, r] = tenon::qr(batch_of_matrices<T, Space>(all));
  const auto left = matrices_from(q), right = matrices_from(r);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(farthest(times(left[i], right[i]), all[i]) < bound_of<T>(m));
    CHECK(distance_from_orthonormal(left[i]) < bound_of<T>(m));
    for (tenon::index row = 0; row < right[i].rows; ++row) {
      for (tenon::index column = 0; column < row; ++column) REQUIRE(right[i](row, column) == 0);
    }
  }
}

template <class T, class Space = tenon::host>
void check_svd(const std::vector<plain_matrix>& all) {
  const auto [u, s, vh] = tenon::svd(batch_of_matrices<T, Space>(all));
  const auto left = matrices_from(u), right = matrices_from(vh);
  const auto numbers = numbers_of(s);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double bound = 5 * bound_of<T>(all[i].rows);
    const auto count = left[i].columns;
    const double* const own = numbers.data() + i * static_cast<std::size_t>(count);
    CHECK(std::is_sorted(own, own + count, std::greater<>{}));
    CHECK(own[count - 1] >= 0);
    CHECK(distance_from_orthonormal(left[i]) < bound);
    CHECK(distance_from_orthonormal(transposed(right[i])) < bound);
    const plain_matrix scaled(
        left[i].rows, count, [&](tenon::index row, tenon::index column) { return left[i](row, column) * own[column]; });
    CHECK(farthest(times(scaled, right[i]), all[i]) < bound);
  }
}

template <class T, class Space = tenon::host>
void check_eigh(const std::vector<plain_matrix>& all) {
  const auto [values, vectors] = tenon::eigh(batch_of_matrices<T, Space>(half_of(all)));
  const auto numbers = numbers_of(values);
  const auto columns = matrices_from(vectors);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto n = all[i].rows;
    const double* const own = numbers.data() + i * static_cast<std::size_t>(n);
    CHECK(std::is_sorted(own, own + n));
    CHECK(distance_from_orthonormal(columns[i]) < bound_of<T>(n));
    const plain_matrix scaled(
        n, n, [&](tenon::index row, tenon::index column) { return columns[i](row, column) * own[column]; });
    CHECK(farthest(times(all[i], columns[i]), scaled) < 5 * bound_of<T>(n));
  }
}

}  // namespace tenon_test
