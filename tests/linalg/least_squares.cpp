// tests/linalg/least_squares.cpp: least squares against the normal equations, and what is orthogonal to what.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/least_squares.hpp>

#include "linalg/matrices.hpp"
#include "support/gradient.hpp"

namespace {

using tenon::rank;
using tenon_test::batch_of_matrices;
using tenon_test::scattered_matrix;
using tenon_test::times;
using tenon_test::transposed;

/// The greatest product of a column of `a` with what a solution leaves of b: 0 of the best one.
double misfit(const tenon_test::plain_matrix& a, const std::vector<double>& x, const tenon_test::plain_matrix& b) {
  tenon_test::plain_matrix solution(a.columns, b.columns), left = b;
  solution.values = x;
  const auto reached = times(a, solution);
  for (std::size_t i = 0; i < left.values.size(); ++i) left.values[i] -= reached.values[i];
  double greatest = 0;
  for (const double each : times(transposed(a), left).values) greatest = std::fmax(greatest, std::fabs(each));
  return greatest;
}

template <class T>
auto tensor_of_matrix(const tenon_test::plain_matrix& from) {
  return tenon_test::tensor_of<tenon::host, T>(rank<2>(from.rows, from.columns),
                                               std::vector<T>(from.values.begin(), from.values.end()));
}

}  // namespace

TEST_CASE("what least squares leave is orthogonal to all columns", "[least_squares]") {
  for (const auto& [m, n] : {std::pair<tenon::index, tenon::index>{1, 1}, {3, 3}, {7, 3}, {40, 9}, {5, 1}}) {
    CAPTURE(m, n);
    const auto a = scattered_matrix(m, n, 1), b = scattered_matrix(m, 2, 2);
    const auto x = tenon::lstsq(tensor_of_matrix<double>(a), tensor_of_matrix<double>(b));
    CHECK(misfit(a, tenon_test::numbers_of(x), b) < 1e-13);
    const auto few = tenon::lstsq(tensor_of_matrix<float>(a), tensor_of_matrix<float>(b));
    CHECK(misfit(a, tenon_test::numbers_of(few), b) < 2e-5);
  }
}

TEMPLATE_LIST_TEST_CASE("least squares of batches, of vectors, and of static extents", "[least_squares]",
                        tenon_test::spaces) {
  const auto a = batch_of_matrices<double>({scattered_matrix(6, 3, 3), scattered_matrix(6, 3, 4)}).to<TestType>();
  const auto b = batch_of_matrices<double>({scattered_matrix(6, 2, 5), scattered_matrix(6, 2, 6)}).to<TestType>();
  const tenon::tensor<double, rank<3>, TestType> x = tenon::lstsq(a, b);
  const tenon::tensor<double, rank<2>, TestType> vectors = tenon::select(b, tenon::axis<2>, 1);
  const auto of_vectors = tenon_test::numbers_of(tenon::lstsq(a, vectors));
  CHECK(tenon_test::difference(of_vectors, tenon_test::numbers_of(tenon::select(x, tenon::axis<2>, 1)), 1e-13) == "");
  for (const tenon::index i : {0, 1}) {
    const unsigned seed = static_cast<unsigned>(i);
    CHECK(misfit(scattered_matrix(6, 3, 3 + seed), tenon_test::numbers_of(x[i]), scattered_matrix(6, 2, 5 + seed)) <
          1e-13);
  }
  const auto here = a.template to<tenon::host>();
  const auto there = vectors.template to<tenon::host>();
  const tenon::tensor<double, tenon::shape<6, 3>> one = here[0];
  const tenon::tensor<double, tenon::shape<6>> side = there[0];
  const auto solution = tenon::evaluated_tensor(tenon::lstsq(one, side));
  static_assert(std::is_same_v<typename decltype(solution)::shape_type, tenon::shape<3>>);
  CHECK(tenon_test::difference(tenon_test::numbers_of(solution), {of_vectors.begin(), of_vectors.begin() + 3}, 1e-13) ==
        "");
}

TEST_CASE("least squares have gradients of both sides", "[least_squares]") {
  auto a = batch_of_matrices<double>({scattered_matrix(5, 3, 7), scattered_matrix(5, 3, 8)});
  auto b = batch_of_matrices<double>({scattered_matrix(5, 2, 9), scattered_matrix(5, 2, 10)});
  tenon::tensor<double, rank<2>> vectors = tenon::select(b, tenon::axis<2>, 1);
  const auto solved = [](const auto& x, const auto& y) { return tenon::lstsq(x, y); };
  CHECK(tenon::gradcheck(solved, a, b) == "");
  CHECK(tenon::gradcheck(solved, a, vectors) == "");
}

TEST_CASE("wide matrices, other rows and columns that depend on each other are refused", "[least_squares]") {
  using tenon_test::text_of;
  const tenon::tensor<double, rank<2>> a = tenon::ones<double>({2, 3}), b = tenon::ones<double>({4, 1});
  CHECK(text_of<tenon::shape_error>([&] { tenon::lstsq(a, b); }) ==
        "lstsq: axis 0: extent 2, expected at least 3, that of axis 1 (operand [2, 3])");
  CHECK(text_of<tenon::shape_error>([&] { tenon::lstsq(tenon::transpose(a), b); }) ==
        "lstsq: right side: axis 0: extent 4, expected 3 (operands [3, 2] and [4, 1])");
  const tenon::tensor<double, rank<1>> vector = tenon::ones<double>({4});
  CHECK(text_of<tenon::shape_error>([&] { tenon::lstsq(tenon::transpose(a), vector); }) ==
        "lstsq: right side: axis 0: extent 4, expected 3 (operands [3, 2] and [4])");
  const tenon::tensor<double, rank<2>> zero = tenon::zeros<double>({4, 2});
  tenon::tensor<double, rank<2>> x = tenon::ones<double>({2, 1});
  CHECK(text_of<tenon::linear_algebra_error>([&] { x = tenon::lstsq(zero, b); }) ==
        "lstsq: the matrix has columns that depend on each other (pivot 0)");
  CHECK(tenon::all(x == 1.0));
}

TEST_CASE("columns that depend on each other but for rounding are refused, others of any scale are not",
          "[least_squares]") {
  using tenon_test::text_of;
  const tenon::tensor<double, rank<2>> near = {{1, 1, 4}, {1, 1 + 1e-15, 4}, {1, 1, 4.5}, {1, 1, 4}};
  const tenon::tensor<double, rank<1>> b = {1, 2, 3, 5};
  tenon::tensor<double, rank<1>> x = {7, 7, 7};
  CHECK(text_of<tenon::linear_algebra_error>([&] { x = tenon::lstsq(near, b); }) ==
        "lstsq: the matrix has columns that depend on each other (pivot 1)");
  CHECK(tenon::all(x == 7));
  const tenon::tensor<float, rank<2>> multiples = {{0.1f, 0.3f}, {0.2f, 0.6f}, {0.7f, 2.1f}, {0.9f, 2.7f}};
  const tenon::tensor<float, rank<1>> few = {1, 2, 3, 4};
  CHECK_THROWS_AS((tenon::tensor<float, rank<1>>(tenon::lstsq(multiples, few))), tenon::linear_algebra_error);
  const tenon::tensor<float, tenon::shape<4, 2>> known = multiples;
  CHECK_THROWS_AS((tenon::tensor<float, tenon::shape<2>>(tenon::lstsq(known, few))), tenon::linear_algebra_error);
  const tenon::tensor<double, rank<2>> apart = {{1, 1}, {1, 1 + 1e-10}, {1, 1}, {1, 1 - 1e-10}};
  const tenon::tensor<double, rank<1>> line = {3, 3 + 2e-10, 3, 3 - 2e-10};
  for (const double scale : {1e-250, 1.0, 1e200}) {
    CAPTURE(scale);
    const tenon::tensor<double, rank<1>> factors = {scale, 1};
    const tenon::tensor<double, rank<2>> scaled = apart * factors;
    const tenon::tensor<double, rank<1>> found = tenon::lstsq(scaled, line);
    CHECK(std::fabs(found[0] * scale - 1) < 1e-4);
    CHECK(std::fabs(found[1] - 2) < 1e-4);
  }
}
