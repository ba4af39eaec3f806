// tests/linalg/orthogonal.cpp: reflections and rotations of vectors in work memory.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/orthogonal.hpp>

#include "linalg/matrices.hpp"

namespace {

using tenon_test::farthest;
using tenon_test::plain_matrix;
using tenon_test::times;
using tenon_test::transposed;
namespace detail = tenon::detail;

}  // namespace

TEST_CASE("powers of two bring the greatest element near 1", "[orthogonal]") {
  for (const double greatest : {0.0, 1.0, 3.5, 1e-300, 5e-324, 1.7e308}) {
    double elements[3] = {greatest / 4, -greatest, 0};
    const double back = detail::scale_to_unit(elements, 3);
    CHECK(elements[1] * back == -greatest);
    if (greatest != 0) CHECK((std::fabs(elements[1]) >= 0.25 || greatest < 1e-307));
    CHECK(std::fabs(elements[1]) < 16);
  }
  double bad[2] = {1, std::nan("")};
  CHECK(std::isnan(detail::scale_to_unit(bad, 2)));
  float infinite[2] = {1, HUGE_VALF};
  CHECK(std::isnan(detail::scale_to_unit(infinite, 2)));
}

TEST_CASE("reflections make a triangle, and orthonormal columns", "[orthogonal]") {
  for (const auto& [m, n] : {std::pair<tenon::index, tenon::index>{1, 1}, {5, 3}, {4, 4}, {3, 6}, {20, 7}}) {
    const tenon::index k = m < n ? m : n;
    const plain_matrix a = tenon_test::scattered_matrix(m, n, 2);
    plain_matrix columns = transposed(a), q(k, m);
    std::vector<double> factors(static_cast<std::size_t>(k));
    detail::reflect_columns(columns.values.data(), factors.data(), m, n);
    detail::unfold_reflections(columns.values.data(), factors.data(), q.values.data(), m, k);
    const plain_matrix r(k, n, [&](tenon::index i, tenon::index j) { return i <= j ? columns(j, i) : 0.0; });
    CHECK(tenon_test::distance_from_orthonormal(transposed(q)) < 1e-14);
    CHECK(farthest(times(transposed(q), r), a) < 1e-14);
  }
}

TEST_CASE("columns that are tiny beside others are reflected, too", "[orthogonal]") {
  const plain_matrix a = tenon_test::scattered_matrix(9, 3, 5);
  for (const double tiny : {0x1p-520, 0x1p-700, 0x1p-1000}) {
    CAPTURE(tiny);
    plain_matrix columns = transposed(a), q(3, 9);
    for (tenon::index i = 0; i < 9; ++i) columns(1, i) *= tiny;
    std::vector<double> factors(3);
    detail::reflect_columns(columns.values.data(), factors.data(), 9, 3);
    detail::unfold_reflections(columns.values.data(), factors.data(), q.values.data(), 9, 3);
    const auto r = [&](tenon::index i, tenon::index j) { return i > j ? 0 : columns(j, i) / (j == 1 ? tiny : 1); };
    CHECK(tenon_test::distance_from_orthonormal(transposed(q)) < 1e-14);
    CHECK(farthest(times(transposed(q), plain_matrix(3, 3, r)), a) < 1e-14);
  }
}

TEST_CASE("rotations make a symmetric matrix diagonal", "[orthogonal]") {
  for (const tenon::index n : {1, 2, 7, 21}) {
    const plain_matrix a = tenon_test::wilkinson(n);
    plain_matrix work = a, vectors(n, n);
    detail::rotate_symmetric(work.values.data(), vectors.values.data(), n);
    const plain_matrix values(n, n, [&](tenon::index i, tenon::index j) { return i == j ? work(i, i) : 0.0; });
    CHECK(tenon_test::distance_from_orthonormal(vectors) < 1e-14);
    CHECK(farthest(times(transposed(vectors), times(values, vectors)), a) < 1e-13);
  }
}

TEST_CASE("vectors without a direction are completed", "[orthogonal]") {
  plain_matrix vectors(4, 5);
  vectors(0, 0) = 0.6, vectors(0, 3) = 0.8;
  plain_matrix partners(4, 4);
  const detail::rotated_vectors<double> all{vectors.values.data(), partners.values.data(), 5, 4, 1e-60};
  all.rotate();
  for (tenon::index i = 1; i < 4; ++i) all.complete(i);
  CHECK(tenon_test::distance_from_orthonormal(transposed(vectors)) < 1e-15);
}

TEST_CASE("numbers are sorted with their vectors", "[orthogonal]") {
  double numbers[3] = {2, 3, 1}, vectors[6] = {20, 21, 30, 31, 10, 11};
  detail::numbered_vectors<double>{numbers, vectors, nullptr, 2, 0, 3}.sort(false);
  CHECK((numbers[0] == 1 && numbers[1] == 2 && numbers[2] == 3));
  CHECK((vectors[0] == 10 && vectors[3] == 21 && vectors[5] == 31));
  double partners[3] = {1, 2, 3};
  detail::numbered_vectors<double>{numbers, vectors, partners, 2, 1, 3}.sort(true);
  CHECK((numbers[0] == 3 && partners[0] == 3 && partners[2] == 1));
}
