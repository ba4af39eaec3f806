// tests/linalg/small_inverse.cpp: inverses by cofactors and by rows in vectors.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/small_inverse.hpp>

#include "linalg/matrices.hpp"

namespace {

using tenon::known_extent;
using tenon_test::farthest;
using tenon_test::plain_matrix;
namespace detail = tenon::detail;

template <tenon::index N>
double error_of_cofactors(const plain_matrix& a) {
  plain_matrix made(N, N);
  if (!detail::invert_by_cofactors(a.values.data(), made.values.data(), known_extent<N>{})) return -1;
  return farthest(tenon_test::times(a, made), tenon_test::plain_identity(N));
}

#if !defined(__CUDACC__)
template <tenon::index N>
double error_of_packs(const plain_matrix& a) {
  plain_matrix made(N, N);
  const tenon::matrix_elements<const double> from{a.values.data(), N, N, N, 1};
  const tenon::matrix_elements<double> to{made.values.data(), N, N, N, 1};
  if (!detail::invert_by_packs<double>(from, to, known_extent<N>{})) return -1;
  return farthest(tenon_test::times(a, made), tenon_test::plain_identity(N));
}

template <tenon::index N>
void check_packs() {
  for (unsigned seed = 1; seed < 9; ++seed) {
    const double found = error_of_packs<N>(tenon_test::scattered_matrix(N, N, seed));
    CHECK((found >= 0 && found < 1e-11));
  }
  plain_matrix exchanged(N, N, [](tenon::index i, tenon::index j) { return i + j == N - 1 ? 2.0 : 0.0; });
  CHECK(error_of_packs<N>(exchanged) == 0);
  exchanged(N - 1, 0) = 0;
  CHECK(error_of_packs<N>(exchanged) == -1);
  exchanged(N - 1, 0) = std::nan("");
  CHECK(error_of_packs<N>(exchanged) == -1);
}
#endif

template <tenon::index N>
void check_cofactors() {
  for (unsigned seed = 1; seed < 9; ++seed) {
    const double found = error_of_cofactors<N>(tenon_test::positive_matrix(N, seed));
    CHECK((found >= 0 && found < 1e-13));
  }
  CHECK(error_of_cofactors<N>(plain_matrix(N, N, [](tenon::index, tenon::index) { return 1.0; })) == -1);
  CHECK(error_of_cofactors<N>(plain_matrix(N, N, [](tenon::index, tenon::index) { return std::nan(""); })) == -1);
  CHECK(error_of_cofactors<N>(plain_matrix(N, N)) == -1);
}

template <tenon::index N>
void check_determinants_by_cofactors() {
  for (unsigned seed = 1; seed < 9; ++seed) {
    const plain_matrix a = tenon_test::scattered_matrix(N, N, seed);
    const auto found = detail::determinant_by_cofactors(a.values.data(), known_extent<N>{});
    CHECK(std::fabs(found.sum - tenon_test::laplace_determinant(a)) < 1e-13 * found.magnitudes);
  }
  const auto of = [](const plain_matrix& a) {
    return detail::determinant_by_cofactors(a.values.data(), known_extent<N>{});
  };
  for (tenon::index shift = 0; shift < N; ++shift) {
    const plain_matrix turned(N, N, [=](tenon::index i, tenon::index j) { return (i + shift) % N == j ? 2.0 : 0.0; });
    CHECK(of(turned).is_accurate());
    CHECK(of(turned).sum == tenon_test::laplace_determinant(turned));
  }
  CHECK_FALSE(of(plain_matrix(N, N, [](tenon::index, tenon::index) { return 1.0; })).is_accurate());
  CHECK_FALSE(of(plain_matrix(N, N, [](tenon::index, tenon::index) { return std::nan(""); })).is_accurate());
  CHECK_FALSE(of(plain_matrix(N, N)).is_accurate());
}

}  // namespace

TEST_CASE("cofactors give determinants, and say where their terms cancel", "[small_inverse]") {
  check_determinants_by_cofactors<2>(), check_determinants_by_cofactors<3>(), check_determinants_by_cofactors<4>();
}

TEST_CASE("cofactors give inverses, and refuse where their terms cancel", "[small_inverse]") {
  check_cofactors<2>(), check_cofactors<3>();
#if !defined(__CUDACC__)
  check_cofactors<4>();
  CHECK(error_of_cofactors<4>(tenon_test::hilbert(4)) == -1);
#endif
  plain_matrix nearly(2, 2, [](tenon::index i, tenon::index j) { return i + j == 2 ? 1.001 : 1.0; });
  CHECK(error_of_cofactors<2>(nearly) == -1);
}

#if !defined(__CUDACC__)
TEST_CASE("rows in vectors give inverses, pivots chosen", "[small_inverse]") {
  check_packs<5>(), check_packs<6>(), check_packs<7>(), check_packs<8>();
}
#endif
