// tests/linalg/few_rows.cpp: systems of one to three rows, written out.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/few_rows.hpp>

#include "linalg/matrices.hpp"

namespace {

using tenon::known_extent;
namespace detail = tenon::detail;

/// Solves by both ways, and compares what they give.
template <bool Divides, tenon::index N, tenon::index Columns, class T>
void check_few_rows(const T (&matrix)[N * N], const T (&right)[N * Columns], tenon::index expected) {
  T a[N * N], b[N * Columns], c[N * N], d[N * Columns];
  std::copy_n(matrix, N * N, a), std::copy_n(matrix, N * N, c);
  std::copy_n(right, N * Columns, b), std::copy_n(right, N * Columns, d);
  CHECK(detail::solve_few_rows<Divides>(a, b, known_extent<N>{}, known_extent<Columns>{}) == expected);
  tenon::index swaps = 0;
  CHECK(detail::eliminate<Divides>(c, d, N, Columns, swaps) == expected);
  if (expected >= 0) return;
  CHECK(detail::substitute<Divides>(c, d, N, Columns, {.is_upper = true}) == -1);
  for (tenon::index i = 0; i < N * Columns; ++i) CHECK(std::fabs(b[i] - d[i]) <= 4e-16 * std::fabs(d[i]));
}

}  // namespace

TEST_CASE("few rows are eliminated as many are", "[few_rows]") {
  check_few_rows<false, 1, 1>({4.0}, {3.0}, -1);
  check_few_rows<false, 1, 3>({-4.0}, {3.0, 1.0, -7.0}, -1);
  check_few_rows<false, 2, 1>({0.0, 2.0, 3.0, 1.0}, {1.0, 2.0}, -1);
  check_few_rows<false, 2, 2>({1e-20, 1.0, 1.0, 1.0}, {1.0, 2.0, 3.0, 4.0}, -1);
  check_few_rows<false, 3, 1>({1.0, 2.0, 4.0, 3.0, 8.0, 14.0, 2.0, 6.0, 13.0}, {3.0, 13.0, 4.0}, -1);
  check_few_rows<false, 3, 4>({0.0, 0.0, 2.0, 0.0, 5.0, 1.0, 3.0, 1.0, 1.0},
                              {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0}, -1);
}

TEST_CASE("the first pivot of few rows that is too small or NaN is named", "[few_rows]") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), tiny = std::numeric_limits<double>::denorm_min();
  check_few_rows<false, 1, 1>({0.0}, {3.0}, 0);
  check_few_rows<false, 2, 1>({1.0, 2.0, 2.0, 4.0}, {1.0, 2.0}, 1);
  check_few_rows<false, 2, 1>({nan, 2.0, 2.0, 4.0}, {1.0, 2.0}, 0);
  check_few_rows<false, 3, 1>({0.0, 1.0, 2.0, 0.0, 3.0, 4.0, 0.0, 5.0, 6.0}, {1.0, 2.0, 3.0}, 0);
  check_few_rows<false, 1, 1>({tiny}, {tiny}, 0);
  check_few_rows<true, 1, 1>({tiny}, {tiny}, -1);
}
