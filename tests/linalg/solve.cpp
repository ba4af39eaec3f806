// tests/linalg/solve.cpp: factors, systems, inverses and determinants in every space, and what they refuse.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/solve.hpp>

#include "algorithms/distant.hpp"
#include "linalg/matrices.hpp"
#include "support/threads.hpp"

namespace {

using tenon::rank;
using tenon_test::batch_of_matrices;
using tenon_test::difference;
using tenon_test::farthest;
using tenon_test::matrices_from;
using tenon_test::numbers_of;
using tenon_test::plain_matrix;
using tenon_test::text_of;
using tenon_test::times;
using failure = tenon::linear_algebra_error;

template <class Space, class Operand>
auto stored(const Operand& operand) {
  return tenon::evaluated_tensor<Space>(operand);
}

std::vector<plain_matrix> positive_batch(tenon::index n) {
  return {tenon_test::positive_matrix(n, 1), tenon_test::positive_matrix(n, 2), tenon_test::positive_matrix(n, 3)};
}
std::vector<plain_matrix> scattered_batch(tenon::index m, tenon::index n) {
  return {tenon_test::scattered_matrix(m, n, 3), tenon_test::scattered_matrix(m, n, 5),
          tenon_test::scattered_matrix(m, n, 7)};
}

/// Whether `left[i] x[i]` is `right[i]` for each matrix of a batch.
void check_products(const std::vector<plain_matrix>& left, const std::vector<plain_matrix>& x,
                    const std::vector<plain_matrix>& right, double bound) {
  REQUIRE(x.size() == right.size());
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(farthest(times(left[i % left.size()], x[i]), right[i]) < bound);
}

template <class T, class Space>
void check_extent(tenon::index n) {
  CAPTURE(n);
  constexpr double bound = tenon_test::linalg_bound<T> * 50;
  const auto positive = positive_batch(n), any = scattered_batch(n, n), sides = scattered_batch(n, 2);
  const auto s = batch_of_matrices<T, Space>(positive), a = batch_of_matrices<T, Space>(any),
             b = batch_of_matrices<T, Space>(sides);
  const auto factors = matrices_from(stored<Space>(tenon::cholesky(s)));
  for (std::size_t i = 0; i < factors.size(); ++i) {
    CHECK(farthest(times(factors[i], tenon_test::transposed(factors[i])), positive[i]) < bound);
    for (tenon::index row = 0; row < n; ++row) {
      for (tenon::index column = row + 1; column < n; ++column) CHECK(factors[i](row, column) == 0);
    }
  }
  check_products(any, matrices_from(stored<Space>(tenon::solve(a, b))), sides, bound);
  check_products(positive, matrices_from(stored<Space>(tenon::solve(s, b, {.positive_definite = true}))), sides, bound);
  const std::vector<plain_matrix> identities(3, tenon_test::plain_identity(n));
  check_products(positive, matrices_from(stored<Space>(tenon::inverse(s))), identities, bound);
  const auto l = stored<Space>(tenon::cholesky(s));
  check_products(factors, matrices_from(stored<Space>(tenon::solve_triangular(l, b))), sides, bound);
  if (n > 6) return;
  std::vector<double> determinants;
  for (const auto& each : any) determinants.push_back(tenon_test::laplace_determinant(each));
  CHECK(difference(numbers_of(stored<Space>(tenon::determinant(a))), determinants, bound) == "");
  const auto found = tenon::slogdet(a);
  const auto signs = numbers_of(stored<Space>(found.sign)), logarithms = numbers_of(stored<Space>(found.logabsdet));
  for (std::size_t i = 0; i < determinants.size(); ++i) {
    CHECK(tenon_test::is_close(signs[i] * std::exp(logarithms[i]), determinants[i], bound));
  }
}

/// The same of one matrix of static extents, which is a statement without a loop, and of a batch of them.
template <class T, int N>
void check_static() {
  constexpr double bound = tenon_test::linalg_bound<T> * 20;
  const plain_matrix a = tenon_test::positive_matrix(N), b = tenon_test::scattered_matrix(N, 1);
  tenon::tensor<T, tenon::shape<N, N>> matrix, result;
  tenon::tensor<T, tenon::shape<N>> side, x;
  matrix = batch_of_matrices<T>({a})[0], side = tenon::squeeze(batch_of_matrices<T>({b})[0], tenon::axis<1>);
  result = tenon::cholesky(matrix);
  const plain_matrix l = matrices_from(result)[0];
  CHECK(farthest(times(l, tenon_test::transposed(l)), a) < bound);
  result = tenon::inverse(matrix);
  CHECK(farthest(times(a, matrices_from(result)[0]), tenon_test::plain_identity(N)) < bound);
  for (const bool is_positive : {false, true}) {
    x = tenon::solve(matrix, side, {.positive_definite = is_positive});
    CHECK(farthest(times(a, matrices_from(tenon::new_axis<1>(x))[0]), b) < bound);
  }
  CHECK(
      tenon_test::is_close(static_cast<double>(tenon::determinant(matrix)), tenon_test::laplace_determinant(a), bound));
  tenon::tensor<T, tenon::shape<3, N, N>> batch, inverses;
  batch = batch_of_matrices<T>(positive_batch(N));
  inverses = tenon::inverse(batch);
  check_products(positive_batch(N), matrices_from(inverses), {3, tenon_test::plain_identity(N)}, bound);
  batch = tenon::inverse(batch);
  CHECK(numbers_of(batch) == numbers_of(inverses));
  matrix = tenon::inverse(matrix);
  CHECK(numbers_of(matrix) == numbers_of(result));
  matrix = tenon::inverse(tenon::transpose(matrix)) + tenon::inverse(matrix);
  CHECK(farthest(matrices_from(tenon::evaluated_tensor(matrix * T(0.5)))[0], a) < 50 * bound);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("factors, systems, inverses and determinants", "[solve]", tenon_test::algorithm_spaces) {
  for (const tenon::index n : {1, 2, 3, 5, 6, 12}) {
    check_extent<double, TestType>(n);
    check_extent<float, TestType>(n);
  }
}

#if !defined(__CUDACC__)
TEST_CASE("large matrices, which need memory", "[solve]") {
  check_extent<double, tenon::host>(41);
  check_extent<double, tenon::host>(77);
}

TEST_CASE("matrices of static extents, also into themselves", "[solve]") {
  check_static<double, 1>(), check_static<float, 2>(), check_static<double, 3>(), check_static<float, 4>();
  check_static<double, 4>(), check_static<float, 6>(), check_static<double, 6>(), check_static<double, 8>();
}

TEST_CASE("Hilbert's matrix, which is nearly singular", "[solve]") {
  const auto a = batch_of_matrices<double>({tenon_test::hilbert(6)});
  const auto inverses = tenon::evaluated_tensor(tenon::inverse(a));
  CHECK(std::fabs(inverses(0, 0, 0) - 36) < 1e-7);
  CHECK(std::fabs(inverses(0, 5, 5) - 698544) < 1e-2);
  CHECK(std::fabs(tenon::evaluated_tensor(tenon::determinant(a))(0) / 5.367299886816843e-18 - 1) < 1e-9);
  tenon::tensor<double, tenon::shape<4, 4>> four = batch_of_matrices<double>({tenon_test::hilbert(4)})[0], found;
  found = tenon::inverse(four);
  CHECK(std::fabs(found(3, 3) - 2800) < 1e-8);
  CHECK(std::fabs(found(0, 0) - 16) < 1e-9);
}

TEST_CASE("batches repeat, vectors and matrices stand to the right", "[solve]") {
  const auto any = scattered_batch(4, 4), sides = scattered_batch(4, 2);
  const auto a = batch_of_matrices<double>(any), b = batch_of_matrices<double>(sides);
  check_products({any[1]}, matrices_from(tenon::evaluated_tensor(tenon::solve(a[1], b))), sides, 1e-11);
  const auto repeated = tenon::evaluated_tensor(tenon::solve(a, tenon::slice(b, tenon::range(0, 1))));
  check_products(any, matrices_from(repeated), {3, sides[0]}, 1e-11);
  const tenon::tensor<double, rank<2>> vectors = tenon::select(b, tenon::axis<2>, 1);
  const auto x = tenon::evaluated_tensor(tenon::solve(a, vectors));
  CHECK(tenon_test::extents_of(x) == std::vector<tenon::index>{3, 4});
  check_products(any, matrices_from(tenon::evaluated_tensor(tenon::new_axis<2>(x))),
                 matrices_from(tenon::evaluated_tensor(tenon::new_axis<2>(vectors))), 1e-11);
  const auto turned = tenon::evaluated_tensor(tenon::solve(tenon::transpose(a), tenon::transpose(tenon::transpose(b))));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(farthest(times(tenon_test::transposed(any[i]), matrices_from(turned)[i]), sides[i]) < 1e-11);
  }
}

TEST_CASE("matrices without rows, and batches without matrices", "[solve]") {
  const tenon::tensor<double, rank<3>> flat({2, 0, 0}), none({0, 3, 3});
  CHECK(numbers_of(tenon::determinant(flat)) == std::vector<double>{1, 1});
  CHECK(numbers_of(tenon::slogdet(flat).logabsdet) == std::vector<double>{0, 0});
  CHECK(numbers_of(tenon::inverse(flat)).empty());
  CHECK(numbers_of(tenon::cholesky(none)).empty());
  CHECK(numbers_of(tenon::determinant(none)).empty());
  CHECK(numbers_of(tenon::solve(none, none)).empty());
  const tenon::tensor<double, rank<3>> columns({2, 3, 0}),
      eyes = tenon::eye<double>(3) + tenon::zeros<double>({2, 3, 3});
  CHECK(numbers_of(tenon::solve(eyes, columns)).empty());
}

TEST_CASE("matrices without a result are named, and what was there stays", "[solve]") {
  auto batch = positive_batch(3);
  batch[1](2, 2) = -100;
  const auto s = batch_of_matrices<double>(batch);
  tenon::tensor<double, rank<3>> result({3, 3, 3});
  CHECK(text_of<failure>([&] { result = tenon::cholesky(s); }) ==
        "cholesky: matrix [1] of [3]: is not positive definite (pivot 2)");
  CHECK(text_of<failure>([&] { result = tenon::solve(s, s, {.positive_definite = true}); }) ==
        "solve: matrix [1] of [3]: is not positive definite (pivot 2)");
  tenon::tensor<double, tenon::shape<3, 3>> ones, kept;
  ones = 1.0, kept = 7.0;
  CHECK(text_of<failure>([&] { kept = tenon::inverse(ones); }) == "inverse: the matrix is singular (pivot 1)");
  CHECK(text_of<failure>([&] { kept = tenon::solve(ones, ones); }) == "solve: the matrix is singular (pivot 1)");
  CHECK(numbers_of(kept) == std::vector<double>(9, 7.0));
  const auto nothing = tenon::evaluated_tensor(tenon::zeros<float>({2, 4, 5, 5}));
  CHECK(text_of<failure>([&] { (void)tenon::evaluated_tensor(tenon::inverse(nothing)); }) ==
        "inverse: matrix [0, 0] of [2, 4]: is singular (pivot 0)");
  CHECK(text_of<failure>([&] { (void)tenon::evaluated_tensor(tenon::solve_triangular(nothing, nothing)); }) ==
        "solve_triangular: matrix [0, 0] of [2, 4]: is singular (pivot 0)");
  CHECK(numbers_of(tenon::slogdet(nothing).sign) == std::vector<double>(8, 0.0));
  CHECK(numbers_of(tenon::slogdet(nothing).logabsdet) == std::vector<double>(8, -HUGE_VAL));
  tenon::tensor<double, rank<2>> strange = tenon::eye<double>(3);
  strange(1, 1) = std::nan("");
  CHECK(std::isnan(static_cast<double>(tenon::determinant(strange))));
  CHECK(text_of<failure>([&] { strange = tenon::inverse(strange); }) == "inverse: the matrix is singular (pivot 1)");
}

TEST_CASE("pivots without a reciprocal, which would be infinite, divide", "[solve]") {
  const float p = 0x1p-130f;
  const tenon::tensor<float, rank<2>> f = {{p, p / 2}, {p / 2, p}};
  const tenon::tensor<float, rank<1>> side = {p, p};
  CHECK(static_cast<float>(tenon::slogdet(f).sign) == 1);
  CHECK(std::fabs(static_cast<float>(tenon::slogdet(f).logabsdet) + 180.506f) < 1e-3f);
  for (const double value : numbers_of(tenon::solve(f, side))) CHECK(std::fabs(value - 2.0 / 3) < 1e-6);
  const tenon::tensor<float, tenon::shape<2, 2>> small = f;
  const tenon::tensor<float, tenon::shape<2>> small_side = side;
  for (const double value : numbers_of(tenon::solve(small, small_side))) CHECK(std::fabs(value - 2.0 / 3) < 1e-6);
  const double q = std::ldexp(1.0, -1060);
  const tenon::tensor<double, rank<2>> triangle = {{q, 0}, {q, q}};
  const tenon::tensor<double, rank<1>> sums = {q, 3 * q};
  CHECK(numbers_of(tenon::solve_triangular(triangle, sums)) == std::vector<double>{1, 2});
  const tenon::tensor<double, rank<2>> a = {{2 * q, q, 0}, {q, 3 * q, q}, {0, q, 4 * q}};
  const tenon::tensor<double, rank<1>> ones = {q, q, q};
  CHECK(static_cast<double>(tenon::slogdet(a).sign) == 1);
  CHECK(std::fabs(static_cast<double>(tenon::slogdet(a).logabsdet) + 2201.32) < 0.01);
  const auto solution = numbers_of(tenon::solve(a, ones));
  const double expected[] = {4.0 / 9, 1.0 / 9, 2.0 / 9};
  for (std::size_t i = 0; i < 3; ++i) CHECK(std::fabs(solution[i] - expected[i]) < 1e-3);
}

TEST_CASE("of many matrices the first that fails is named, on any number of threads", "[solve]") {
  tenon::tensor<double, rank<3>> many = tenon::eye<double>(20) + tenon::zeros<double>({500, 20, 20});
  many(123, 5, 5) = 0, many(400, 1, 1) = 0;
  CHECK(text_of<failure>([&] { many = tenon::inverse(many); }) ==
        "inverse: matrix [123] of [500]: is singular (pivot 5)");
  const tenon::tensor<double, rank<3>> x = tenon::normal<double>(rank<3>(300, 9, 9), 3);
  CHECK(tenon_test::is_same_on_any_threads([&] { return tenon_test::elements_of(tenon::inverse(x)); }));
}

TEST_CASE("extents that do not fit are refused", "[solve]") {
  const tenon::tensor<double, rank<3>> wide({2, 3, 4}), square({2, 3, 3}), four({4, 3, 3});
  const tenon::tensor<double, rank<2>> vectors({2, 5});
  CHECK(text_of<tenon::shape_error>([&] { (void)tenon::cholesky(wide); }) ==
        "cholesky: axes 1 and 2: extents 3 and 4, expected equal (operand [2, 3, 4])");
  CHECK(text_of<tenon::shape_error>([&] { (void)tenon::inverse(wide); }) ==
        "inverse: axes 1 and 2: extents 3 and 4, expected equal (operand [2, 3, 4])");
  CHECK(text_of<tenon::shape_error>([&] { (void)tenon::determinant(wide); }) ==
        "determinant: axes 1 and 2: extents 3 and 4, expected equal (operand [2, 3, 4])");
  CHECK(text_of<tenon::shape_error>([&] { (void)tenon::solve(square, vectors); }) ==
        "solve: right side: axis 1: extent 5, expected 3 (operands [2, 3, 3] and [2, 5])");
  CHECK(text_of<tenon::shape_error>([&] { (void)tenon::solve_triangular(square, four); }) ==
        "solve_triangular: axis 0: extents 2 and 4 differ, expected equal or one of them 1 (operands [2, 3, 3] and [4, "
        "3, 3])");
}
#endif

TEMPLATE_LIST_TEST_CASE("a device writes NaN where a matrix has no result", "[solve]", tenon_test::algorithm_spaces) {
  if constexpr (!TestType::host_accessible) {
    auto batch = positive_batch(3);
    batch[1] = plain_matrix(3, 3);
    const auto s = batch_of_matrices<double, TestType>(batch);
    for (const auto& found :
         {matrices_from(stored<TestType>(tenon::cholesky(s))), matrices_from(stored<TestType>(tenon::inverse(s))),
          matrices_from(stored<TestType>(tenon::solve(s, s)))}) {
      for (const double value : found[1].values) CHECK(std::isnan(value));
      for (const double value : found[2].values) CHECK(!std::isnan(value));
    }
  }
}
