// tests/linalg/solve_passes.cpp: passes of factors and systems into elements that lie apart, and of other types.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/solve_passes.hpp>
#include <tenon/run_log.hpp>

#include "linalg/matrices.hpp"
#include "support/few_elements.hpp"
#include "support/text_of.hpp"

namespace {

using tenon_test::batch_of_matrices;
using tenon_test::farthest;
using tenon_test::matrices_from;
using tenon_test::positive_matrix;
using tenon_test::runs_small;
using tenon_test::text_of;

}  // namespace

TEST_CASE("what is written may lie apart, or be of another type", "[solve_passes]") {
  const auto a = batch_of_matrices<double>({positive_matrix(5, 1), positive_matrix(5, 2)});
  const auto expected = matrices_from(tenon::evaluated_tensor(tenon::inverse(a)));
  tenon::tensor<double, tenon::rank<3>> whole({2, 9, 10});
  whole = 3.0;
  tenon::slice(whole, tenon::range(0, 2), tenon::range(1, 6), tenon::range(0, 10, 2)) = tenon::inverse(a);
  for (tenon::index i = 0; i < 5; ++i) {
    for (tenon::index j = 0; j < 5; ++j) CHECK(whole(1, i + 1, 2 * j) == expected[1](i, j));
  }
  CHECK((whole(1, 0, 0) == 3 && whole(1, 1, 1) == 3 && whole(1, 6, 0) == 3));
  tenon::tensor<float, tenon::rank<3>> narrow({2, 5, 5});
  narrow = tenon::inverse(a);
  CHECK(farthest(matrices_from(narrow)[0], expected[0]) < 1e-6);
}

TEST_CASE("operands are expressions, and results stand in expressions", "[solve_passes]") {
  const auto a = batch_of_matrices<double>({positive_matrix(4, 1), positive_matrix(4, 2)});
  const auto expected = matrices_from(tenon::evaluated_tensor(tenon::inverse(a)));
  const tenon::tensor<double, tenon::rank<3>> twice = tenon::inverse(a * 0.5) + 1.0;
  for (tenon::index i = 0; i < 4; ++i) CHECK(std::fabs(twice(1, i, i) - 2 * expected[1](i, i) - 1) < 1e-14);
  const double trace = tenon::sum(tenon::inverse(a[0]) * tenon::eye<double>(4));
  double known = 0;
  for (tenon::index i = 0; i < 4; ++i) known += expected[0](i, i);
  CHECK(std::fabs(trace - known) < 1e-14);
  const tenon::tensor<double, tenon::rank<2>> one = tenon::inverse(tenon::eye<double>(3) * 4.0);
  CHECK(one(2, 2) == 0.25);
  const double determinant = tenon::determinant(tenon::eye<double>(3) * 2.0);
  CHECK(determinant == 8);
}

#if TENON_CHECKED == 0 && TENON_NO_FUSE == 0
TEST_CASE("what is written around algorithms of small matrices runs with them in registers", "[solve_passes]") {
  using matrix = tenon::tensor<double, tenon::shape<4, 4>>;
  using row = tenon::tensor<double, tenon::shape<4>>;
  const auto large = batch_of_matrices<double>({positive_matrix(4, 1), positive_matrix(4, 2)});
  const tenon::tensor<double, tenon::rank<2>> large_s = large[0], large_h = large[1];
  matrix s, h, found;
  s = large_s, h = large_h;
  const row x = {1, -2, 3, -4};
  const tenon::tensor<double, tenon::rank<1>> large_x = {1, -2, 3, -4};
  const auto agrees = [&](auto& to, const auto& small, const auto& known) {
    CHECK(runs_small(small));
    {
      const tenon::launch_counter counter;
      to = small;
      CHECK(counter.count() == 0);
    }
    const auto expected = tenon::evaluated_tensor(known);
    CHECK(double(tenon::max(tenon::abs(to - expected))) < 1e-12);
    to = 0.0;
    const tenon::run_log seen;  // where an observer looks, each part runs alone
    to = small;
    CHECK(double(tenon::max(tenon::abs(to - expected))) < 1e-12);
  };
  agrees(found, tenon::transpose(tenon::solve(s, h, {.positive_definite = true})),
         tenon::transpose(tenon::solve(large_s, large_h, {.positive_definite = true})));
  agrees(found, tenon::matmul(tenon::transpose(h), tenon::inverse(s * 2.0 + h)) - s,
         tenon::matmul(tenon::transpose(large_h), tenon::inverse(large_s * 2.0 + large_h)) - large_s);
  agrees(found, tenon::inverse(tenon::inverse(tenon::matmul(s, h)) + tenon::cholesky(s)) / tenon::determinant(h),
         tenon::inverse(tenon::inverse(tenon::matmul(large_s, large_h)) + tenon::cholesky(large_s)) /
             tenon::determinant(large_h));
  row of_x;
  agrees(of_x, x + tenon::matmul(s, tenon::solve_triangular(s, x + x)),
         large_x + tenon::matmul(large_s, tenon::solve_triangular(large_s, large_x + large_x)));
  const double form = tenon::dot(x, tenon::solve(s, x));
  const double known = tenon::dot(large_x, tenon::solve(large_s, large_x));
  CHECK(std::fabs(form - known) < 1e-12);

  s = tenon::transpose(tenon::inverse(s)) - s;  // what is read is written
  CHECK(double(tenon::max(tenon::abs(s - (tenon::inverse(large_s) - large_s)))) < 1e-12);
  const matrix before = found, singular = tenon::ones<double>(tenon::shape<4, 4>());
  CHECK(text_of<tenon::linear_algebra_error>([&] { found = tenon::transpose(tenon::inverse(singular * 2.0)) + s; }) ==
        "inverse: the matrix is singular (pivot 1)");
  CHECK(bool(tenon::all(found == before)));
}
#endif
