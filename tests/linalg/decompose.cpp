// tests/linalg/decompose.cpp: QR factors, eigenvalues and singular values in every space, of matrices that are known.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/decompose.hpp>

#include "algorithms/distant.hpp"
#include "linalg/matrices.hpp"
#include "support/threads.hpp"

namespace {

using tenon::rank;
using tenon_test::batch_of_matrices;
using tenon_test::distance_from_orthonormal;
using tenon_test::farthest;
using tenon_test::matrices_from;
using tenon_test::numbers_of;
using tenon_test::plain_matrix;
using tenon_test::text_of;
using tenon_test::times;
using tenon_test::transposed;

std::vector<plain_matrix> random_matrices(tenon::index m, tenon::index n) {
  return {tenon_test::scattered_matrix(m, n, 11), tenon_test::scattered_matrix(m, n, 12)};
}
std::vector<plain_matrix> symmetric_matrices(tenon::index n) {
  std::vector<plain_matrix> all = random_matrices(n, n);
  for (plain_matrix& each : all) {
    for (tenon::index i = 0; i < n; ++i) {
      for (tenon::index j = 0; j < i; ++j) each(j, i) = each(i, j);
    }
  }
  return all;
}

template <class T, class Space>
void check_qr(const std::vector<plain_matrix>& all) {
  const auto [q, r] = tenon::qr(batch_of_matrices<T, Space>(all));
  const auto left = matrices_from(q), right = matrices_from(r);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(farthest(times(left[i], right[i]), all[i]) < tenon_test::linalg_bound<T>);
    CHECK(distance_from_orthonormal(left[i]) < tenon_test::linalg_bound<T>);
    for (tenon::index row = 0; row < right[i].rows; ++row) {
      for (tenon::index column = 0; column < row && column < right[i].columns; ++column) {
        CHECK(right[i](row, column) == 0);
      }
    }
  }
}

template <class T, class Space>
void check_eigh(const std::vector<plain_matrix>& all) {
  auto read = all;  // what lies above the diagonal is not read
  for (plain_matrix& each : read) {
    for (tenon::index i = 0; i < each.rows; ++i) {
      for (tenon::index j = i + 1; j < each.rows; ++j) each(i, j) = std::nan("");
    }
  }
  const auto [values, vectors] = tenon::eigh(batch_of_matrices<T, Space>(read));
  const auto numbers = numbers_of(values);
  const auto columns = matrices_from(vectors);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto n = all[i].rows;
    const double* const own = numbers.data() + i * static_cast<std::size_t>(n);
    CHECK(std::is_sorted(own, own + n));
    CHECK(distance_from_orthonormal(columns[i]) < tenon_test::linalg_bound<T>);
    const plain_matrix scaled(
        n, n, [&](tenon::index row, tenon::index column) { return columns[i](row, column) * own[column]; });
    CHECK(farthest(times(scaled, transposed(columns[i])), all[i]) < 5 * tenon_test::linalg_bound<T>);
  }
}

template <class T, class Space>
void check_svd(const std::vector<plain_matrix>& all) {
  const auto [u, s, vh] = tenon::svd(batch_of_matrices<T, Space>(all));
  const auto left = matrices_from(u), right = matrices_from(vh);
  const auto numbers = numbers_of(s);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto count = left[i].columns;
    const double* const own = numbers.data() + i * static_cast<std::size_t>(count);
    CHECK(std::is_sorted(own, own + count, std::greater<>{}));
    CHECK((count == 0 || own[count - 1] >= 0));
    CHECK(distance_from_orthonormal(left[i]) < tenon_test::linalg_bound<T>);
    CHECK(distance_from_orthonormal(transposed(right[i])) < tenon_test::linalg_bound<T>);
    const plain_matrix scaled(
        left[i].rows, count, [&](tenon::index row, tenon::index column) { return left[i](row, column) * own[column]; });
    CHECK(farthest(times(scaled, right[i]), all[i]) < 5 * tenon_test::linalg_bound<T>);
  }
}

template <class T, class Space>
void check_decompositions(tenon::index m, tenon::index n) {
  CAPTURE(m, n);
  check_qr<T, Space>(random_matrices(m, n));
  check_svd<T, Space>(random_matrices(m, n));
  if (m == n) check_eigh<T, Space>(symmetric_matrices(n));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("decompositions put matrices together again", "[decompose]", tenon_test::algorithm_spaces) {
  for (const auto& extents :
       {tenon::array<tenon::index, 2>{{1, 1}}, {{2, 2}}, {{3, 3}}, {{5, 3}}, {{3, 5}}, {{1, 4}}, {{9, 9}}, {{17, 6}}}) {
    check_decompositions<double, TestType>(extents[0], extents[1]);
    check_decompositions<float, TestType>(extents[0], extents[1]);
  }
}

#if !defined(__CUDACC__)
TEST_CASE("decompositions of large matrices, which need memory", "[decompose]") {
  check_decompositions<double, tenon::host>(40, 40);
  check_decompositions<double, tenon::host>(70, 33);
}

TEST_CASE("matrices without rows or columns, and static extents", "[decompose]") {
  const tenon::tensor<double, rank<3>> tall({2, 3, 0}), none({0, 3, 3}), flat({2, 0, 0});
  const auto [q, r] = tenon::qr(tall);
  CHECK(tenon_test::extents_of(q) == std::vector<tenon::index>{2, 3, 0});
  CHECK(tenon_test::extents_of(r) == std::vector<tenon::index>{2, 0, 0});
  CHECK(tenon_test::extents_of(tenon::svd(none).s) == std::vector<tenon::index>{0, 3});
  CHECK(tenon_test::extents_of(tenon::eigh(flat).vectors) == std::vector<tenon::index>{2, 0, 0});
  const tenon::tensor<float, tenon::shape<4, 2>> known = tenon::uniform<float>(tenon::shape<4, 2>(), 1);
  static_assert(std::is_same_v<decltype(tenon::svd(known).s)::shape_type, tenon::shape<2>>);
  static_assert(std::is_same_v<decltype(tenon::svd(known).u)::shape_type, tenon::shape<4, 2>>);
  static_assert(std::is_same_v<decltype(tenon::qr(known).r)::shape_type, tenon::shape<2, 2>>);
}

TEST_CASE("eigenvalues that are known: repeated ones, close pairs, and none but zeros", "[decompose]") {
  check_eigh<double, tenon::host>({tenon_test::wilkinson(21), tenon_test::hilbert(21), tenon_test::plain_identity(21)});
  const auto pairs = numbers_of(tenon::eigh(batch_of_matrices<double>({tenon_test::wilkinson(21)})).values);
  CHECK(std::fabs(pairs[20] - 10.746194182903393) < 1e-13);
  CHECK(std::fabs(pairs[19] - 10.746194182903322) < 1e-13);
  const plain_matrix repeated(4, 4, [](tenon::index i, tenon::index j) { return i == j ? (i < 3 ? 2.0 : -1.0) : 0.0; });
  check_eigh<double, tenon::host>({repeated, plain_matrix(4, 4)});
  CHECK(numbers_of(tenon::eigh(batch_of_matrices<double>({repeated})).values) == std::vector<double>{-1, 2, 2, 2});
  const auto scaled = tenon::evaluated_tensor(batch_of_matrices<double>(symmetric_matrices(4)) * 1e200);
  CHECK(std::isfinite(numbers_of(tenon::eigh(scaled).values)[0]));
}

TEST_CASE("singular values that are known: missing ranks, repeated ones, tiny ones", "[decompose]") {
  const plain_matrix ones(6, 4, [](tenon::index, tenon::index) { return 1.0; });
  const plain_matrix low = times(tenon_test::scattered_matrix(6, 2, 4), tenon_test::scattered_matrix(2, 4, 5));
  check_svd<double, tenon::host>({ones, low, plain_matrix(6, 4)});
  check_svd<float, tenon::host>({transposed(ones), transposed(low), plain_matrix(4, 6)});
  check_svd<double, tenon::host>({tenon_test::hilbert(12), tenon_test::plain_identity(12)});
  const auto of_ones = numbers_of(tenon::svd(batch_of_matrices<double>({ones})).s);
  CHECK(std::fabs(of_ones[0] - std::sqrt(24.0)) < 1e-14);
  CHECK(std::fabs(of_ones[1]) < 1e-15);
  check_qr<double, tenon::host>({ones, low, plain_matrix(6, 4)});
  const auto tiny = tenon::evaluated_tensor(batch_of_matrices<double>(random_matrices(5, 3)) * 1e-250);
  const auto plain = numbers_of(tenon::svd(batch_of_matrices<double>(random_matrices(5, 3))).s);
  const auto found = numbers_of(tenon::svd(tiny).s);
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::fabs(found[i] / plain[i] * 1e250 - 1) < 1e-13);
}

TEST_CASE("what is not finite, or not square, is refused", "[decompose]") {
  auto all = random_matrices(3, 3);
  all[1](2, 0) = HUGE_VAL;
  const auto a = batch_of_matrices<double>(all);
  const std::string reason = ": matrix [1] of [2]: has elements that are infinite or NaN";
  CHECK(text_of<tenon::linear_algebra_error>([&] { (void)tenon::qr(a); }) == "qr" + reason);
  CHECK(text_of<tenon::linear_algebra_error>([&] { (void)tenon::eigh(a); }) == "eigh" + reason);
  CHECK(text_of<tenon::linear_algebra_error>([&] { (void)tenon::svd(a); }) == "svd" + reason);
  CHECK(text_of<tenon::shape_error>([&] { (void)tenon::eigh(batch_of_matrices<double>(random_matrices(3, 4))); }) ==
        "eigh: axes 1 and 2: extents 3 and 4, expected equal (operand [2, 3, 4])");
}

TEST_CASE("decompositions are the same on any number of threads", "[decompose]") {
  const tenon::tensor<double, rank<3>> x = tenon::normal<double>(rank<3>(200, 7, 7), 3);
  CHECK(tenon_test::is_same_on_any_threads([&] { return tenon_test::elements_of(tenon::svd(x).u); }));
  CHECK(tenon_test::is_same_on_any_threads([&] { return tenon_test::elements_of(tenon::eigh(x).vectors); }));
}
#endif
