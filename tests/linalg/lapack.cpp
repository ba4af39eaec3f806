// tests/linalg/lapack.cpp: large matrices of the host by LAPACK, against what defines the results.
// A program of its own, as the library serves a whole program; compiled where LAPACK's interface for C is found.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/lapack.hpp>

#include <tenon/grad/gradcheck.hpp>

#include "linalg/matrices.hpp"
#include "support/gradient.hpp"
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
using failure = tenon::linear_algebra_error;
using matrix = tenon::tensor<double, rank<2>>;

/// Errors of a result grow with the extents, those of systems of random matrices with their condition.
template <class T>
double bound_of(tenon::index n) {
  return tenon_test::linalg_bound<T> * static_cast<double>(n);
}

/// Random numbers on one side of the diagonal, and a diagonal near 1 whose signs differ.
plain_matrix triangle(tenon::index n, bool is_upper, unsigned seed) {
  const plain_matrix all = tenon_test::scattered_matrix(n, n, seed);
  return {n, n, [&](tenon::index i, tenon::index j) {
            if (i == j) return (i % 3 == 0 ? -1 : 1) * (1 + all(i, j) / 4);
            return (i < j) == is_upper ? all(i, j) / static_cast<double>(n) : 0.0;
          }};
}
double product_of_diagonal(const plain_matrix& a) {
  double product = 1;
  for (tenon::index i = 0; i < a.rows; ++i) product *= a(i, i);
  return product;
}
std::vector<plain_matrix> batch_of(tenon::index m, tenon::index n) {
  return {tenon_test::scattered_matrix(m, n, 31), tenon_test::scattered_matrix(m, n, 32)};
}
std::vector<plain_matrix> positive_batch(tenon::index n) {
  return {tenon_test::positive_matrix(n, 31), tenon_test::positive_matrix(n, 32)};
}
/// NaN above the diagonal, which is not read, or below it.
std::vector<plain_matrix> half_of(std::vector<plain_matrix> all, bool is_lower = true) {
  for (plain_matrix& each : all) {
    for (tenon::index i = 0; i < each.rows; ++i) {
      for (tenon::index j = i + 1; j < each.columns; ++j) (is_lower ? each(i, j) : each(j, i)) = std::nan("");
    }
  }
  return all;
}

/// Whether `left[i] x[i]` is `right[i]`, relative to what is multiplied.
void check_products(const std::vector<plain_matrix>& left, const std::vector<plain_matrix>& x,
                    const std::vector<plain_matrix>& right, double bound) {
  REQUIRE(x.size() == right.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double size = farthest(x[i], plain_matrix(x[i].rows, x[i].columns));
    CHECK(farthest(times(left[i % left.size()], x[i]), right[i]) < bound * (1 + size));
  }
}

template <class T>
void check_factors_and_systems(tenon::index n) {
  const auto positive = positive_batch(n), any = batch_of(n, n), sides = batch_of(n, 3);
  const auto lower = batch_of_matrices<T>(half_of(positive)), a = batch_of_matrices<T>(any),
             b = batch_of_matrices<T>(sides);
  const auto factors = matrices_from(tenon::evaluated_tensor(tenon::cholesky(lower)));
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(farthest(times(factors[i], transposed(factors[i])), positive[i]) < bound_of<T>(n));
    for (tenon::index row = 0; row < n; ++row) {
      for (tenon::index column = row + 1; column < n; ++column) REQUIRE(factors[i](row, column) == 0);
    }
  }
  check_products(any, matrices_from(tenon::evaluated_tensor(tenon::solve(a, b))), sides, bound_of<T>(n));
  check_products(positive, matrices_from(tenon::evaluated_tensor(tenon::solve(lower, b, {.positive_definite = true}))),
                 sides, bound_of<T>(n));
  const std::vector<plain_matrix> identities(2, tenon_test::plain_identity(n));
  check_products(any, matrices_from(tenon::evaluated_tensor(tenon::inverse(a))), identities, bound_of<T>(n));
  for (int choice = 0; choice < 8; ++choice) {
    const tenon::triangular_options options{(choice & 1) != 0, (choice & 2) != 0, (choice & 4) != 0};
    std::vector<plain_matrix> triangles{triangle(n, options.upper, 1), triangle(n, options.upper, 2)};
    const auto read = batch_of_matrices<T>(half_of(triangles, !options.upper));
    for (plain_matrix& each : triangles) {
      for (tenon::index i = 0; i < n && options.unit_diagonal; ++i) each(i, i) = 1;
      if (options.transposed) each = transposed(each);
    }
    check_products(triangles, matrices_from(tenon::evaluated_tensor(tenon::solve_triangular(read, b, options))), sides,
                   bound_of<T>(n));
  }
}

template <class T>
void check_determinants(tenon::index n) {
  const plain_matrix l = triangle(n, false, 3), u = triangle(n, true, 4);
  plain_matrix product = times(l, u), swapped = product;
  for (tenon::index j = 0; j < n; ++j) std::swap(swapped(0, j), swapped(n - 1, j));
  const double expected = product_of_diagonal(l) * product_of_diagonal(u);
  const auto a = batch_of_matrices<T>({product, swapped});
  const auto found = numbers_of(tenon::determinant(a)), signs = numbers_of(tenon::slogdet(a).sign),
             logarithms = numbers_of(tenon::slogdet(a).logabsdet);
  for (const std::size_t i : {0u, 1u}) {
    const double sign = i == 0 ? 1 : -1;
    CHECK(std::fabs(sign * found[i] / expected - 1) < bound_of<T>(n));
    CHECK(signs[i] == (sign * expected > 0 ? 1 : -1));
    CHECK(std::fabs(logarithms[i] - std::log(std::fabs(expected))) < bound_of<T>(n));
  }
}

template <class T>
void check_qr(tenon::index m, tenon::index n) {
  const auto all = batch_of(m, n);
  const auto [q, r] = tenon::qr(batch_of_matrices<T>(all));
  const auto left = matrices_from(q), right = matrices_from(r);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(farthest(times(left[i], right[i]), all[i]) < bound_of<T>(m));
    CHECK(distance_from_orthonormal(left[i]) < bound_of<T>(m));
    for (tenon::index row = 0; row < right[i].rows; ++row) {
      for (tenon::index column = 0; column < row; ++column) REQUIRE(right[i](row, column) == 0);
    }
  }
}

template <class T>
void check_svd(const std::vector<plain_matrix>& all) {
  const auto [u, s, vh] = tenon::svd(batch_of_matrices<T>(all));
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

template <class T>
void check_eigh(const std::vector<plain_matrix>& all) {
  const auto [values, vectors] = tenon::eigh(batch_of_matrices<T>(half_of(all)));
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

/// Whether the gradient of `function`, times a direction, is the slope in this direction.
template <class Function>
double distance_from_slope(const Function& function, const matrix& x, double step = 1e-6) {
  const matrix direction = tenon::uniform<double>(x.shape(), 5, -1.0f, 1.0f);
  const auto value = [&](double distance) {
    const matrix moved = x + direction * distance;
    const auto result = function(tenon::as_node(moved));
    return static_cast<double>(tenon::sum(result * tenon_test::weights_of(result.shape())));
  };
  const auto v = tenon::variable<0>(x);
  const auto result = function(v);
  const auto [gradient] = tenon::vjp(result, tenon_test::weights_of(result.shape()), tenon::wrt(v));
  const matrix found = gradient;
  const double slope = (value(step) - value(-step)) / (2 * step);
  return std::fabs(static_cast<double>(tenon::sum(found * direction)) - slope) / (1 + std::fabs(slope));
}

matrix one_of(const plain_matrix& plain) { return batch_of_matrices<double>({plain})[0]; }

}  // namespace

TEMPLATE_TEST_CASE("factors, systems, inverses and determinants", "[lapack]", float, double) {
  for (const tenon::index n : {33, 64, 100}) {
    CAPTURE(n);
    check_factors_and_systems<TestType>(n);
    check_determinants<TestType>(n);
  }
}

TEMPLATE_TEST_CASE("decompositions", "[lapack]", float, double) {
  for (const auto& extents : {tenon::array<tenon::index, 2>{{33, 33}}, {{64, 64}}, {{100, 70}}, {{70, 100}}}) {
    CAPTURE(extents[0], extents[1]);
    check_qr<TestType>(extents[0], extents[1]);
    check_svd<TestType>(batch_of(extents[0], extents[1]));
  }
  for (const tenon::index n : {33, 64}) check_eigh<TestType>(positive_batch(n));
}

TEST_CASE("LAPACK decomposes", "[lapack]") {
  // Its vectors differ in sign from those of rotations, whose signs follow from other steps.
  const matrix a = one_of(tenon_test::positive_matrix(40));
  const auto with = numbers_of(tenon::eigh(a).vectors);
  const auto* const library = tenon::detail::host_library<double>.exchange(nullptr);
  const auto without = numbers_of(tenon::eigh(a).vectors);
  tenon::detail::host_library<double> = library;
  CHECK(library == &tenon::detail::lapack<double>);
  CHECK(with != without);
}

TEST_CASE("known eigenvalues and singular values", "[lapack]") {
  const plain_matrix low = times(tenon_test::scattered_matrix(70, 3, 4), tenon_test::scattered_matrix(3, 50, 5));
  check_svd<double>({low, plain_matrix(70, 50)});
  check_svd<double>({transposed(low), plain_matrix(50, 70)});
  const auto singular = numbers_of(tenon::svd(one_of(low)).s);
  CHECK(singular[3] < 1e-12);
  CHECK(numbers_of(tenon::svd(tenon::evaluated_tensor(one_of(low) * 1e200)).s)[0] / singular[0] / 1e200 > 0.999);
  check_eigh<double>({tenon_test::wilkinson(41), tenon_test::plain_identity(41), plain_matrix(41, 41)});
  const plain_matrix differences(40, 40, [](tenon::index i, tenon::index j) {
    return i == j ? 2.0 : i - j == 1 || j - i == 1 ? -1.0 : 0.0;
  });
  const auto values = numbers_of(tenon::eigh(one_of(differences)).values);
  const auto as_singular = numbers_of(tenon::svd(one_of(differences)).s);
  for (std::size_t i = 0; i < 40; ++i) {
    const double expected = 2 - 2 * std::cos(std::acos(-1.0) * static_cast<double>(i + 1) / 41);
    CHECK(std::fabs(values[i] - expected) < 1e-14);
    CHECK(std::fabs(as_singular[39 - i] - expected) < 1e-14);
  }
}

TEST_CASE("operands and results that lie apart, transposed, static, narrow, and expressions", "[lapack]") {
  const auto any = batch_of(70, 70), sides = batch_of(70, 2);
  const auto a = batch_of_matrices<double>(any), b = batch_of_matrices<double>(sides);
  const std::vector<plain_matrix> turned{transposed(any[0]), transposed(any[1])};
  check_products(turned, matrices_from(tenon::evaluated_tensor(tenon::solve(tenon::transpose(a), b))), sides, 1e-10);
  const auto expected = numbers_of(tenon::inverse(a));
  tenon::tensor<double, rank<3>> wide({2, 140, 141});
  wide = 0.0;
  auto apart = tenon::slice(wide, tenon::range(), tenon::range(0, 140, 2), tenon::range(1, 141, 2));
  apart = a;
  CHECK(numbers_of(tenon::inverse(apart)) == expected);
  const auto [u, s, vh] = tenon::svd(apart);
  CHECK(numbers_of(vh) == numbers_of(tenon::svd(a).vh));
  CHECK(numbers_of(tenon::qr(apart).q) == numbers_of(tenon::qr(a).q));
  apart = tenon::inverse(apart);
  CHECK(numbers_of(apart) == expected);
  CHECK(wide(0, 1, 1) == 0);
  tenon::tensor<float, rank<3>> narrow({2, 70, 70});
  narrow = tenon::inverse(a);
  CHECK(std::fabs(static_cast<double>(narrow(1, 69, 3)) - expected[4900 + 69 * 70 + 3]) < 1e-4);
  const tenon::tensor<double, tenon::shape<70, 70>> known = a[1];
  const tenon::tensor<double, tenon::shape<70, 70>> inverse_of_known = tenon::inverse(known) + 1.0;
  CHECK(inverse_of_known(5, 6) == expected[4900 + 5 * 70 + 6] + 1);
  const auto [q, r] = tenon::qr(tenon::transpose(a) * 2.0);
  check_products(matrices_from(q), matrices_from(r), matrices_from(tenon::evaluated_tensor(tenon::transpose(a) * 2.0)),
                 1e-12);
}

TEST_CASE("vectors, one column, several axes before the matrices, and a matrix that repeats", "[lapack]") {
  const auto any = batch_of(70, 70), sides = batch_of(70, 2);
  const auto a = batch_of_matrices<double>(any), b = batch_of_matrices<double>(sides);
  const tenon::tensor<double, rank<2>> vectors = tenon::select(b, tenon::axis<2>, 1);
  const auto x = tenon::evaluated_tensor(tenon::solve(a, vectors));
  CHECK(tenon_test::extents_of(x) == std::vector<tenon::index>{2, 70});
  check_products(any, matrices_from(tenon::evaluated_tensor(tenon::new_axis<2>(x))),
                 matrices_from(tenon::evaluated_tensor(tenon::new_axis<2>(vectors))), 1e-10);
  const tenon::tensor<double, rank<1>> vector = vectors[0], solution = tenon::solve(a[0], vector);
  CHECK(numbers_of(solution) == numbers_of(x[0]));
  check_products({any[1]}, matrices_from(tenon::evaluated_tensor(tenon::solve(a[1], b))), sides, 1e-10);
  const tenon::tensor<double, rank<4>> deep = tenon::new_axis<1>(a);
  CHECK(numbers_of(tenon::inverse(deep)) == numbers_of(tenon::inverse(a)));
  CHECK(tenon_test::extents_of(tenon::svd(deep).u) == std::vector<tenon::index>{2, 1, 70, 70});
}

TEST_CASE("extents of 0", "[lapack]") {
  const tenon::tensor<double, rank<3>> flat({2, 0, 0}), none({0, 70, 70}), tall({2, 70, 0});
  CHECK(numbers_of(tenon::determinant(flat)) == std::vector<double>{1, 1});
  CHECK(numbers_of(tenon::inverse(none)).empty());
  CHECK(tenon_test::extents_of(tenon::qr(tall).q) == std::vector<tenon::index>{2, 70, 0});
  CHECK(tenon_test::extents_of(tenon::svd(tall).vh) == std::vector<tenon::index>{2, 0, 0});
  const auto a = batch_of_matrices<double>(positive_batch(70));
  CHECK(numbers_of(tenon::solve(a, tall)).empty());
  CHECK(numbers_of(tenon::solve(a, tall, {.positive_definite = true})).empty());
  CHECK(numbers_of(tenon::solve_triangular(a, tall)).empty());
}

TEST_CASE("matrices without a result are refused as small ones are", "[lapack]") {
  auto all = positive_batch(70);
  all[1](50, 50) = -1000;
  const auto s = batch_of_matrices<double>(all);
  CHECK(text_of<failure>([&] { (void)tenon::evaluated_tensor(tenon::cholesky(s)); }) ==
        "cholesky: matrix [1] of [2]: is not positive definite (pivot 50)");
  CHECK(text_of<failure>([&] { (void)tenon::evaluated_tensor(tenon::solve(s, s, {.positive_definite = true})); }) ==
        "solve: matrix [1] of [2]: is not positive definite (pivot 50)");
  matrix singular = one_of(tenon_test::plain_identity(70)), kept = tenon::ones<double>({70, 70});
  singular(40, 40) = 0;
  CHECK(text_of<failure>([&] { kept = tenon::inverse(singular); }) == "inverse: the matrix is singular (pivot 40)");
  CHECK(text_of<failure>([&] { kept = tenon::solve(singular, singular); }) ==
        "solve: the matrix is singular (pivot 40)");
  CHECK(text_of<failure>([&] { kept = tenon::solve_triangular(singular, singular); }) ==
        "solve_triangular: the matrix is singular (pivot 40)");
  CHECK(numbers_of(kept) == std::vector<double>(4900, 1.0));
  CHECK(static_cast<double>(tenon::determinant(singular)) == 0);
  CHECK(static_cast<double>(tenon::slogdet(singular).sign) == 0);
  CHECK(static_cast<double>(tenon::slogdet(singular).logabsdet) == -HUGE_VAL);
}

TEST_CASE("NaN and infinite elements", "[lapack]") {
  matrix strange = one_of(tenon_test::plain_identity(70)), kept = tenon::ones<double>({70, 70});
  strange(3, 60) = std::nan("");  // multiplied by 0 alone, which a library may leave out
  CHECK(text_of<failure>([&] { kept = tenon::inverse(strange); }) == "inverse: the matrix is singular (pivot 60)");
  CHECK(text_of<failure>([&] { kept = tenon::solve(strange, strange); }) == "solve: the matrix is singular (pivot 60)");
  CHECK(std::isnan(static_cast<double>(tenon::determinant(strange))));
  const std::string reason = ": the matrix has elements that are infinite or NaN (pivot 0)";
  strange(3, 60) = HUGE_VAL;
  strange(60, 3) = HUGE_VAL;
  CHECK(text_of<failure>([&] { (void)tenon::qr(strange); }) == "qr" + reason);
  CHECK(text_of<failure>([&] { (void)tenon::eigh(strange); }) == "eigh" + reason);
  CHECK(text_of<failure>([&] { (void)tenon::svd(strange); }) == "svd" + reason);
}

TEST_CASE("extents that do not fit", "[lapack]") {
  const tenon::tensor<double, rank<2>> wide({70, 71}), square({70, 70}), side({69, 2});
  CHECK(text_of<tenon::shape_error>([&] { (void)tenon::cholesky(wide); }) ==
        "cholesky: axes 0 and 1: extents 70 and 71, expected equal (operand [70, 71])");
  CHECK(text_of<tenon::shape_error>([&] { (void)tenon::eigh(wide); }) ==
        "eigh: axes 0 and 1: extents 70 and 71, expected equal (operand [70, 71])");
  CHECK(text_of<tenon::shape_error>([&] { (void)tenon::solve(square, side); }) ==
        "solve: right side: axis 0: extent 69, expected 70 (operands [70, 70] and [69, 2])");
}

TEST_CASE("results are the same on any number of threads", "[lapack]") {
  const tenon::tensor<double, rank<3>> x = tenon::normal<double>(rank<3>(20, 65, 65), 3);
  CHECK(tenon_test::is_same_on_any_threads([&] { return tenon_test::elements_of(tenon::inverse(x)); }));
  CHECK(tenon_test::is_same_on_any_threads([&] { return tenon_test::elements_of(tenon::eigh(x).vectors); }));
}

TEST_CASE("gradients of large matrices", "[lapack]") {
  const matrix a = one_of(tenon_test::positive_matrix(64)) / 64.0, b = one_of(tenon_test::scattered_matrix(64, 3));
  CHECK(distance_from_slope([](const auto& x) { return tenon::inverse(x); }, a) < 1e-6);
  CHECK(distance_from_slope([](const auto& x) { return tenon::slogdet(x).logabsdet; }, a) < 1e-6);
  CHECK(distance_from_slope([&](const auto& x) { return tenon::solve(x, b); }, a) < 1e-6);
  CHECK(distance_from_slope([&](const auto& x) { return tenon::solve(a, x); }, b) < 1e-6);
  CHECK(distance_from_slope([&](const auto& x) { return tenon::solve_triangular(x, b); }, a) < 1e-6);
  CHECK(distance_from_slope([](const auto& x) { return tenon::cholesky(x + tenon::transpose(x)); }, a) < 1e-6);
  CHECK(distance_from_slope([](const auto& x) { return tenon::qr(x).q; }, a) < 1e-6);
  CHECK(distance_from_slope([](const auto& x) { return tenon::qr(x).r; }, a) < 1e-6);
  CHECK(distance_from_slope([](const auto& x) { return tenon::eigh(x + tenon::transpose(x)).values; }, a) < 1e-6);
}

TEST_CASE("gradients of decompositions, element by element", "[lapack]") {
  tenon::tensor<double, rank<3>> a = batch_of_matrices<double>({tenon_test::scattered_matrix(24, 25, 7)});
  CHECK(tenon::gradcheck([](const auto& x) { return tenon::svd(x).s; }, a) == "");
  const tenon::gradcheck_options near{1e-6, 1e-4};
  CHECK(tenon::gradcheck([](const auto& x) { return tenon::svd(x).u; }, near, a) == "");
  tenon::tensor<double, rank<2>> square = one_of(tenon_test::scattered_matrix(24, 24, 8));
  CHECK(tenon::gradcheck([](const auto& x) { return tenon::eigh(x + tenon::transpose(x)).vectors; }, near, square) ==
        "");
}
