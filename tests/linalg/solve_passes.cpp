// tests/linalg/solve_passes.cpp: passes of factors and systems into elements that lie apart, and of other types.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/solve_passes.hpp>

#include "linalg/matrices.hpp"

namespace {

using tenon_test::batch_of_matrices;
using tenon_test::farthest;
using tenon_test::matrices_from;
using tenon_test::positive_matrix;

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
