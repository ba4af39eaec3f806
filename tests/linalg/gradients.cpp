// tests/linalg/gradients.cpp: gradients of linear algebra against differences, of single matrices and batches.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/gradients.hpp>

#include <tenon/grad/gradcheck.hpp>

#include "linalg/matrices.hpp"
#include "support/gradient.hpp"

namespace {

using tenon::rank;
using tenon_test::batch_of_matrices;
using tenon_test::scattered_matrix;

auto matrices_for_gradients(tenon::index m, tenon::index n) {
  return batch_of_matrices<double>({scattered_matrix(m, n, 21), scattered_matrix(m, n, 22)});
}
const auto made_positive = [](const auto& a) { return tenon::matmul(a, tenon::transpose(a)) + tenon::eye<double>(4); };
const auto made_symmetric = [](const auto& a) { return a + tenon::transpose(a); };

}  // namespace

TEST_CASE("gradients of factors, inverses and determinants", "[gradients]") {
  auto a = matrices_for_gradients(4, 4);
  CHECK(tenon::gradcheck([](const auto& x) { return tenon::inverse(x); }, a) == "");
  CHECK(tenon::gradcheck([](const auto& x) { return tenon::cholesky(made_positive(x)); }, a) == "");
  CHECK(tenon::gradcheck([](const auto& x) { return tenon::determinant(x); }, a) == "");
  CHECK(tenon::gradcheck([](const auto& x) { return tenon::slogdet(x).logabsdet; }, a) == "");
  CHECK(tenon::gradcheck([](const auto& x) { return tenon::slogdet(x).sign; }, a) == "");
}

TEST_CASE("gradients of systems, of their matrices and right sides", "[gradients]") {
  auto a = matrices_for_gradients(4, 4), b = matrices_for_gradients(4, 2);
  tenon::tensor<double, rank<2>> vectors = tenon::select(b, tenon::axis<2>, 1);
  const auto solved = [](const auto& x, const auto& y) { return tenon::solve(x, y); };
  CHECK(tenon::gradcheck(solved, a, b) == "");
  CHECK(tenon::gradcheck(solved, a, vectors) == "");
  CHECK(tenon::gradcheck(
            [](const auto& x, const auto& y) { return tenon::solve(made_positive(x), y, {.positive_definite = true}); },
            a, b) == "");
  tenon::tensor<double, rank<2>> one = tenon::select(a, tenon::axis<0>, 1);
  CHECK(tenon::gradcheck(solved, one, b) == "");  // a matrix that repeats over a batch
  for (int choice = 0; choice < 8; ++choice) {
    const tenon::triangular_options options{(choice & 1) != 0, (choice & 2) != 0, (choice & 4) != 0};
    const auto triangle = [&](const auto& x, const auto& y) { return tenon::solve_triangular(x, y, options); };
    CHECK(tenon::gradcheck(triangle, a, b) == "");
    CHECK(tenon::gradcheck(triangle, a, vectors) == "");
  }
}

TEST_CASE("gradients of QR factors, eigenvalues and singular values", "[gradients]") {
  auto square = matrices_for_gradients(4, 4), tall = matrices_for_gradients(5, 3), wide = matrices_for_gradients(3, 5);
  CHECK(tenon::gradcheck([](const auto& x) { return tenon::qr(x).q; }, tall) == "");
  CHECK(tenon::gradcheck([](const auto& x) { return tenon::qr(x).r; }, tall) == "");
  CHECK(tenon::gradcheck([](const auto& x) { return tenon::eigh(made_symmetric(x)).values; }, square) == "");
  CHECK(tenon::gradcheck([](const auto& x) { return tenon::eigh(made_symmetric(x)).vectors; }, square) == "");
  for (auto* x : {&tall, &wide}) {
    CHECK(tenon::gradcheck([](const auto& y) { return tenon::svd(y).u; }, *x) == "");
    CHECK(tenon::gradcheck([](const auto& y) { return tenon::svd(y).s; }, *x) == "");
    CHECK(tenon::gradcheck([](const auto& y) { return tenon::svd(y).vh; }, *x) == "");
  }
  const auto v = tenon::variable<0>(wide);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] {
          (void)tenon::gradient(tenon::sum(tenon::qr(v).r), tenon::wrt(v));
        }) == "qr: gradient: 3 rows, expected at least as many as 5 columns (operand [2, 3, 5])");
}

TEST_CASE("gradients of functions that name several results", "[gradients]") {
  auto square = matrices_for_gradients(4, 4), tall = matrices_for_gradients(5, 3);
  const auto product = [](const auto& x) {
    const auto factors = tenon::qr(x);
    return factors.q * factors.q + tenon::matmul(factors.q, factors.r);
  };
  CHECK(tenon::gradcheck(product, tall) == "");
  const auto weighted = [](const auto& x) {
    const auto found = tenon::eigh(made_symmetric(x));
    return tenon::new_axis<-2>(found.values) * found.vectors;
  };
  CHECK(tenon::gradcheck(weighted, square) == "");
  const auto rotation = [](const auto& x) {
    const auto [u, s, vh] = tenon::svd(x);
    return tenon::matmul(u * tenon::new_axis<-2>(s), tenon::square(vh));
  };
  CHECK(tenon::gradcheck(rotation, tall) == "");
}

TEST_CASE("gradients of gradients", "[gradients]") {
  tenon::tensor<double, rank<2>> a = matrices_for_gradients(3, 3)[0], b = a;
  CHECK(tenon_test::second_difference([](const auto& x) { return tenon::inverse(x); }, a, 1e-5) == "");
  CHECK(tenon_test::second_difference([](const auto& x) { return tenon::determinant(x); }, a, 1e-5) == "");
  CHECK(tenon_test::second_difference([&](const auto& x) { return tenon::solve(x, b); }, a, 1e-5) == "");
}

TEST_CASE("a matrix of static extents, and a loss of several parts", "[gradients]") {
  tenon::tensor<double, tenon::shape<3, 3>> a = matrices_for_gradients(3, 3)[0];
  tenon::tensor<double, tenon::shape<3>> b({}, {1, -2, 3});
  CHECK(tenon::gradcheck(
            [](const auto& x, const auto& y) {
              const auto s = tenon::matmul(x, tenon::transpose(x)) + tenon::eye<double>(tenon::shape<3, 3>());
              return tenon::sum(y * tenon::solve(s, y)) + tenon::slogdet(s).logabsdet;
            },
            a, b) == "");
}
