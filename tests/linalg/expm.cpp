// tests/linalg/expm.cpp: exponentials of matrices against SciPy's, sums of powers and what is known in closed form.
// Norms are far below and far above what is halved, and extents those that compilers unroll and others.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/expm.hpp>

#include <tenon/grad/gradcheck.hpp>

#include "linalg/matrices.hpp"

namespace exponentials {

using tenon::rank;
using tenon_test::batch_of_matrices;
using tenon_test::farthest;
using tenon_test::matrices_from;
using tenon_test::plain_matrix;
using tenon_test::scattered_matrix;
using tenon_test::text_of;

/// The sum of powers of a small part of the matrix, squared six times.
plain_matrix sum_of_powers(plain_matrix a) {
  for (double& value : a.values) value /= 64;
  plain_matrix power = tenon_test::plain_identity(a.rows), sum = power;
  for (int k = 1; k < 30; ++k) {
    power = times(power, a);
    for (std::size_t i = 0; i < power.values.size(); ++i) sum.values[i] += power.values[i] /= k;
  }
  for (int k = 0; k < 6; ++k) sum = times(sum, sum);
  return sum;
}

}  // namespace exponentials

TEMPLATE_LIST_TEST_CASE("exponentials of batches of every extent are sums of powers", "[expm]",
                        tenon_test::algorithm_spaces) {
  using namespace exponentials;
  for (const tenon::index n : {1, 2, 3, 5, 8, 9, 17, 33}) {
    CAPTURE(n);
    const std::vector<plain_matrix> all{scattered_matrix(n, n, 1), scattered_matrix(n, n, 2), plain_matrix(n, n)};
    const auto found = matrices_from(tenon::expm(batch_of_matrices<double, TestType>(all)));
    const auto rough = matrices_from(tenon::expm(batch_of_matrices<float, TestType>(all)));
    const auto turned = matrices_from(tenon::expm(tenon::transpose(batch_of_matrices<double, TestType>(all))));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const plain_matrix wanted = sum_of_powers(all[i]);
      const double most = farthest(wanted, plain_matrix(n, n));
      CHECK(farthest(found[i], wanted) <= 1e-13 * most);
      CHECK(farthest(rough[i], wanted) <= 2e-5 * most);
      CHECK(farthest(turned[i], transposed(wanted)) <= 1e-13 * most);
    }
  }
}

TEST_CASE("exponentials are SciPy's, of small and of large norms", "[expm]") {
  using namespace exponentials;
  // scipy.linalg.expm([[0.5, -1, 2], [1, 0.25, -0.75], [0, 3, -1]]), and of ten times that
  const tenon::tensor<double, tenon::shape<3, 3>> a = {{0.5, -1, 2}, {1, 0.25, -0.75}, {0, 3, -1}};
  const std::vector<double> once{1.9834451811462777, 1.3152855117858735, 1.5857546273522984,
                                 1.1528075521696652, 0.769708394120534,  0.42085947334959406,
                                 1.2340465319777694, 1.6073528585423418, 0.511326880387148};
  const std::vector<double> tens{238248.43618369926, 189683.406197284,   145562.4188913332,
                                 117592.24138470697, 93622.00799427595,  71845.21874375679,
                                 153637.82379099546, 122319.98846762755, 93867.95406309629};
  CHECK(tenon_test::difference(tenon_test::numbers_of(tenon::expm(a)), once, 1e-14) == "");
  const tenon::tensor<double, rank<2>> of_tens = tenon::expm(10 * a);
  CHECK(tenon_test::difference(tenon_test::numbers_of(of_tens), tens, 1e-12) == "");
}

TEMPLATE_TEST_CASE("exponentials that are known", "[expm]", float, double) {
  using namespace exponentials;
  using T = TestType;
  const double bound = std::is_same_v<T, float> ? 2e-5 : 1e-13;
  const auto check = [&](const plain_matrix& a, const plain_matrix& wanted) {
    const auto found = matrices_from(tenon::expm(batch_of_matrices<T>({a})));
    CHECK(farthest(found[0], wanted) <= bound * farthest(wanted, plain_matrix(wanted.rows, wanted.columns)));
  };
  for (const double angle : {1e-3, 0.5, 3.0, 20.0}) {
    CAPTURE(angle);
    const double turn[] = {0, -angle, angle, 0},
                 turned[] = {std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle)};
    check({2, 2, [&](auto i, auto j) { return turn[2 * i + j]; }},
          {2, 2, [&](auto i, auto j) { return turned[2 * i + j]; }});
    check({3, 3, [&](auto i, auto j) { return i == j ? -angle * static_cast<double>(i) : 0; }},
          {3, 3, [&](auto i, auto j) { return i == j ? std::exp(-angle * static_cast<double>(i)) : 0; }});
    check({3, 3, [&](auto i, auto j) { return j == i + 1 ? angle : 0; }},
          {3, 3, [&](auto i, auto j) {
             return j < i ? 0 : j == i ? 1 : j == i + 1 ? angle : angle * angle / 2;
           }});
  }
  CHECK(tenon_test::numbers_of(tenon::expm(tenon::zeros<T>({2, 0, 0}))).empty());
  CHECK(tenon_test::numbers_of(tenon::expm(tenon::zeros<T>({0, 2, 2}))).empty());
}

TEST_CASE("exponentials have gradients", "[expm]") {
  using namespace exponentials;
  auto a = batch_of_matrices<double>({scattered_matrix(3, 3, 5), scattered_matrix(3, 3, 6)});
  CHECK(tenon::gradcheck([](const auto& x) { return tenon::expm(x); }, a) == "");
  CHECK(tenon::gradcheck([](const auto& x) { return tenon::square(tenon::expm(3 * x)); }, a) == "");
  tenon::tensor<double, tenon::shape<2, 2>> small = {{0.1, 0.7}, {-0.4, 0.2}};
  CHECK(tenon::gradcheck([](const auto& x) { return tenon::expm(x); }, small) == "");
}

TEST_CASE("matrices without an exponential are refused", "[expm]") {
  using namespace exponentials;
  auto a = batch_of_matrices<double>({scattered_matrix(3, 3, 5), scattered_matrix(3, 3, 6)});
  CHECK(text_of<tenon::shape_error>([&] { tenon::expm(tenon::zeros<double>({3, 2})); }) ==
        text_of<tenon::shape_error>([&] { tenon::inverse(tenon::zeros<double>({3, 2})); }).replace(0, 7, "expm"));
  a(1, 0, 2) = std::nan("");
  CHECK(text_of<tenon::linear_algebra_error>([&] { tenon::evaluated_tensor(tenon::expm(a)); }) ==
        "expm: matrix [1] of [2]: has a norm that is infinite or NaN");
  const tenon::tensor<double, rank<2>> unseen = {{0, std::nan("")}, {0, 0}};  // not in the last row
  CHECK(text_of<tenon::linear_algebra_error>([&] { tenon::evaluated_tensor(tenon::expm(unseen)); }) ==
        "expm: the matrix has a norm that is infinite or NaN");
  const tenon::tensor<float, tenon::shape<2, 2>> infinite = {{1, HUGE_VALF}, {0, 1}};
  CHECK(text_of<tenon::linear_algebra_error>([&] { tenon::evaluated_tensor(tenon::expm(infinite)); }) ==
        "expm: the matrix has a norm that is infinite or NaN");
}
