// tests/linalg/lapack.cpp: large matrices of the host by LAPACK, against what defines the results.
// A program of its own, as the library serves a whole program; compiled where LAPACK's interface for C is found.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/lapack.hpp>

#include <tenon/grad/gradcheck.hpp>

#include "linalg/large_matrices.hpp"
#include "support/gradient.hpp"
#include "support/threads.hpp"

namespace {

using tenon::rank;
using tenon_test::batch_of_matrices;
using tenon_test::check_products;
using tenon_test::matrices_from;
using tenon_test::numbers_of;
using tenon_test::plain_matrix;
using tenon_test::text_of;
using tenon_test::times;
using tenon_test::transposed;
using failure = tenon::linear_algebra_error;
using matrix = tenon::tensor<double, rank<2>>;

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
    tenon_test::check_factors_and_systems<TestType>(n);
    tenon_test::check_determinants<TestType>(n);
  }
}

TEMPLATE_TEST_CASE("decompositions", "[lapack]", float, double) {
  for (const auto& extents : {tenon::array<tenon::index, 2>{{33, 33}}, {{64, 64}}, {{100, 70}}, {{70, 100}}}) {
    CAPTURE(extents[0], extents[1]);
    tenon_test::check_qr<TestType>(extents[0], extents[1]);
    tenon_test::check_svd<TestType>(tenon_test::random_batch(extents[0], extents[1]));
  }
  for (const tenon::index n : {33, 64}) tenon_test::check_eigh<TestType>(tenon_test::positive_batch(n));
}

TEST_CASE("the way of a device's library, by LAPACK", "[lapack]") {
  using space = tenon_test::distant;
  tenon::detail::library_of<double, space> = &tenon::detail::lapack<double>;
  tenon_test::check_factors_and_systems<double, space>(65);
  tenon_test::check_determinants<double, space>(64);
  tenon_test::check_qr<double, space>(70, 64);
  tenon_test::check_svd<double, space>(tenon_test::random_batch(64, 30));
  tenon_test::check_svd<double, space>(tenon_test::random_batch(30, 64));
  tenon_test::check_eigh<double, space>(tenon_test::positive_batch(33));
  tenon::detail::library_of<double, space> = nullptr;
}

TEST_CASE("LAPACK decomposes", "[lapack]") {
  // Its vectors differ in sign from those of rotations, whose signs follow from other steps.
  const matrix a = one_of(tenon_test::positive_matrix(40));
  const auto with = numbers_of(tenon::eigh(a).vectors);
  const auto* const library = tenon::detail::library_of<double, tenon::host>.exchange(nullptr);
  const auto without = numbers_of(tenon::eigh(a).vectors);
  tenon::detail::library_of<double, tenon::host> = library;
  CHECK(library == &tenon::detail::lapack<double>);
  CHECK(with != without);
}

TEST_CASE("known eigenvalues and singular values", "[lapack]") {
  const plain_matrix low = times(tenon_test::scattered_matrix(70, 3, 4), tenon_test::scattered_matrix(3, 50, 5));
  tenon_test::check_svd<double>({low, plain_matrix(70, 50)});
  tenon_test::check_svd<double>({transposed(low), plain_matrix(50, 70)});
  const auto singular = numbers_of(tenon::svd(one_of(low)).s);
  CHECK(singular[3] < 1e-12);
  CHECK(numbers_of(tenon::svd(tenon::evaluated_tensor(one_of(low) * 1e200)).s)[0] / singular[0] / 1e200 > 0.999);
  tenon_test::check_eigh<double>({tenon_test::wilkinson(41), tenon_test::plain_identity(41), plain_matrix(41, 41)});
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
  const auto any = tenon_test::random_batch(70, 70), sides = tenon_test::random_batch(70, 2);
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
  const auto any = tenon_test::random_batch(70, 70), sides = tenon_test::random_batch(70, 2);
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
  const auto a = batch_of_matrices<double>(tenon_test::positive_batch(70));
  CHECK(numbers_of(tenon::solve(a, tall)).empty());
  CHECK(numbers_of(tenon::solve(a, tall, {.positive_definite = true})).empty());
  CHECK(numbers_of(tenon::solve_triangular(a, tall)).empty());
}

TEST_CASE("matrices without a result are refused as small ones are", "[lapack]") {
  auto all = tenon_test::positive_batch(70);
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
  const std::string reason = ": the matrix has elements that are infinite or NaN";
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
