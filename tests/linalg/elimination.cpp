// tests/linalg/elimination.cpp: factors of one matrix in work memory, of extents that types know and of others.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/elimination.hpp>

#include "linalg/matrices.hpp"

namespace {

using tenon::known_extent;
using tenon_test::farthest;
using tenon_test::plain_matrix;
using tenon_test::times;
namespace detail = tenon::detail;

/// `body(n)` for extents of both kinds.
template <class Body>
void for_each_elimination_extent(const Body& body) {
  body(known_extent<1>{}), body(known_extent<3>{}), body(known_extent<6>{}), body(known_extent<8>{});
  for (const tenon::index n : {0, 1, 2, 5, 9, 33}) body(n);
}

plain_matrix lower_triangle(const plain_matrix& a) {
  return {a.rows, a.columns, [&](tenon::index i, tenon::index j) { return i >= j ? a(i, j) : 0.0; }};
}

}  // namespace

TEST_CASE("Cholesky's factor times its transpose is the matrix", "[elimination]") {
  for_each_elimination_extent([](auto n) {
    const plain_matrix a = tenon_test::positive_matrix(n);
    plain_matrix work = a;
    CHECK(detail::factor_cholesky<false>(work.values.data(), n) == -1);
    const plain_matrix l = lower_triangle(work);
    CHECK(farthest(times(l, tenon_test::transposed(l)), a) < 1e-12);
    plain_matrix reciprocal = a;
    CHECK(detail::factor_cholesky<true>(reciprocal.values.data(), n) == -1);
    for (tenon::index i = 0; i < n; ++i) CHECK(std::fabs(reciprocal(i, i) * l(i, i) - 1) < 1e-14);
  });
}

TEST_CASE("the first pivot that is not positive has its number", "[elimination]") {
  plain_matrix a = tenon_test::plain_identity(4);
  a(2, 2) = 0;
  CHECK(detail::factor_cholesky<false>(a.values.data(), tenon::index{4}) == 2);
  plain_matrix b = tenon_test::plain_identity(4);
  b(1, 1) = std::nan("");
  CHECK(detail::factor_cholesky<false>(b.values.data(), known_extent<4>{}) == 1);
}

TEST_CASE("triangles are solved from either end, transposed or not", "[elimination]") {
  for_each_elimination_extent([](auto n) {
    for (int choice = 0; choice < 8; ++choice) {
      const bool is_upper = (choice & 1) != 0, is_transposed = (choice & 2) != 0, has_ones = (choice & 4) != 0;
      const auto a = [&](tenon::index i, tenon::index j) {
        if (i == j) return has_ones ? 1.0 : 2.0 + 0.1 * static_cast<double>(i);
        return (i < j) == is_upper ? tenon_test::scattered(5 * i + j) / (1.0 + static_cast<double>(n)) : 0.0;
      };
      const plain_matrix triangle(n, n, a), x = tenon_test::scattered_matrix(n, 3);
      plain_matrix b = times(is_transposed ? tenon_test::transposed(triangle) : triangle, x);
      plain_matrix read = triangle;  // what is not read is NaN
      for (tenon::index i = 0; i < n; ++i) {
        for (tenon::index j = 0; j < n; ++j) {
          if ((i == j && has_ones) || (i != j && (i < j) != is_upper)) read(i, j) = std::nan("");
        }
      }
      const auto diagonal = has_ones ? detail::diagonal_kind::ones : detail::diagonal_kind::pivots;
      CHECK(detail::substitute(read.values.data(), b.values.data(), n, tenon::index{3},
                               {is_upper, is_transposed, diagonal}) == -1);
      CHECK(farthest(b, x) < 1e-13);
    }
  });
}

TEST_CASE("elimination leaves a triangle and solves with it", "[elimination]") {
  for_each_elimination_extent([](auto n) {
    const plain_matrix a = tenon_test::scattered_matrix(n, n, 3), x = tenon_test::scattered_matrix(n, 2, 4);
    plain_matrix work = a, b = times(a, x);
    tenon::index swaps = 0;
    REQUIRE(detail::eliminate(work.values.data(), b.values.data(), n, known_extent<2>{}, swaps) == -1);
    REQUIRE(detail::substitute(work.values.data(), b.values.data(), n, known_extent<2>{}, {.is_upper = true}) == -1);
    CHECK(farthest(b, x) < 1e-10);
    if (n > 6) return;
    double product = swaps % 2 == 0 ? 1 : -1;
    for (tenon::index i = 0; i < n; ++i) product *= work(i, i);
    CHECK(std::fabs(product - tenon_test::laplace_determinant(a)) < 1e-13);
  });
}

TEST_CASE("Gauss and Jordan's inverse, and its missing pivots", "[elimination]") {
  for_each_elimination_extent([](auto n) {
    const plain_matrix a = tenon_test::scattered_matrix(n, n, 5);
    plain_matrix work = a;
    std::vector<double> places(static_cast<std::size_t>(n) + 1);
    REQUIRE(detail::invert(work.values.data(), places.data(), n) == -1);
    CHECK(farthest(times(a, work), tenon_test::plain_identity(n)) < 1e-10);
  });
  plain_matrix ones(5, 5, [](tenon::index, tenon::index) { return 1.0; });
  std::vector<double> places(5);
  CHECK(detail::invert(ones.values.data(), places.data(), tenon::index{5}) == 1);
}
