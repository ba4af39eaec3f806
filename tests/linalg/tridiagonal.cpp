// tests/linalg/tridiagonal.cpp: tridiagonal systems along every axis: what they were multiplied with comes back.
// Products are by definition, in double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/tridiagonal.hpp>

#include "algorithms/line_cases.hpp"
#include "linalg/matrices.hpp"
#include "support/gradient.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;
using decimals = std::vector<double>;

/// lower[i] x[i - 1] + diagonal[i] x[i] + upper[i] x[i + 1]
decimals three_diagonals(const decimals& lower, const decimals& diagonal, const decimals& upper, const decimals& x,
                         const tenon::array<tenon::index, 3>& extents, int along) {
  decimals result(x.size());
  for (const auto& line : tenon_test::lines_of(extents, along)) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      double sum = diagonal[line[i]] * x[line[i]];
      if (i > 0) sum += lower[line[i]] * x[line[i - 1]];
      if (i + 1 < line.size()) sum += upper[line[i]] * x[line[i + 1]];
      result[line[i]] = sum;
    }
  }
  return result;
}

template <class T, int Axis, class Operand>
void check_systems(const Operand& b) {
  constexpr int along = Axis < 0 ? Axis + 3 : Axis;
  const double bound = std::is_same_v<T, float> ? 1e-4 : 1e-12;
  const auto extents = b.shape().to_array();
  CAPTURE(extents[0], extents[1], extents[2], Axis);
  const auto lower = T(0.25) * b - 1;
  const auto diagonal = T(8) + b / 2;
  const auto upper = T(1) - b / 4;
  const auto x = tenon::solve_tridiagonal(lower, diagonal, upper, b, axis<Axis>);
  CHECK(difference(
            three_diagonals(numbers_of(lower), numbers_of(diagonal), numbers_of(upper), numbers_of(x), extents, along),
            numbers_of(b), bound) == "");
  const decimals ones(numbers_of(b).size(), 1.0), threes(ones.size(), -3.0);
  const auto y = tenon::solve_tridiagonal(1, -3, 1, b, axis<Axis>);
  CHECK(difference(three_diagonals(ones, threes, ones, numbers_of(y), extents, along), numbers_of(b), bound) == "");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("systems along every axis of operands of every kind", "[tridiagonal]",
                        tenon_test::algorithm_spaces) {
  for (const auto& extents : tenon_test::line_shapes) {
    tenon_test::for_each_operand<float, TestType>(extents, [](const auto& b) {
      check_systems<float, 0>(b);
      check_systems<float, 1>(b);
      check_systems<float, -1>(b);
    });
    check_systems<double, 1>(tenon_test::few_values<double, TestType>(extents, 4));
  }
}

TEMPLATE_LIST_TEST_CASE("one matrix serves many right sides, and its outer corners are not read", "[tridiagonal]",
                        tenon_test::algorithm_spaces) {
  const double nan = tenon_test::nan_value;
  const auto lower = tenon_test::tensor_of<TestType, double>(rank<1>(3), {nan, 1, 2});
  const auto diagonal = tenon_test::tensor_of<TestType, double>(rank<1>(3), {4, 5, 6});
  const auto upper = tenon_test::tensor_of<TestType, double>(rank<1>(3), {1, 2, nan});
  auto b = tenon_test::tensor_of<TestType, double>(rank<2>(2, 3), {6, 17, 22, 4, 1, 0});
  b = tenon::solve_tridiagonal(lower, diagonal, upper, b);
  CHECK(difference(numbers_of(b), {1, 2, 3, 1, 0, 0}, 1e-15) == "");
}

TEST_CASE("systems have the gradients of all operands", "[tridiagonal]") {
  auto lower = tenon_test::drawn(rank<2>(4, 5), 1), upper = tenon_test::drawn(rank<2>(4, 5), 2);
  auto diagonal = tenon_test::drawn(rank<2>(4, 5), 3, 5, 6), b = tenon_test::drawn(rank<2>(4, 5), 4);
  auto one_diagonal = tenon_test::drawn(rank<1>(5), 5, 5, 6);
  const auto rows = [](const auto&... each) { return tenon::solve_tridiagonal(each...); };
  const auto columns = [](const auto&... each) { return tenon::solve_tridiagonal(each..., axis<0>); };
  CHECK(tenon::gradcheck(rows, lower, diagonal, upper, b) == "");
  CHECK(tenon::gradcheck(columns, lower, diagonal, upper, b) == "");
  CHECK(tenon::gradcheck(columns, lower, one_diagonal, upper, b) == "");
  CHECK(tenon::gradcheck([](const auto& x) { return tenon::solve_tridiagonal(1, 4, -1, x); }, b) == "");
}

TEST_CASE("systems without a pivot, and of other extents, are refused", "[tridiagonal]") {
  using tenon_test::text_of;
  tenon::tensor<double, rank<2>> b = tenon::ones<double>({2, 4});
  CHECK(text_of<tenon::linear_algebra_error>([&] { b = tenon::solve_tridiagonal(1, 1, 1, b); }) ==
        "solve_tridiagonal: axis 1: pivot 1 is 0 or NaN, expected another number; `solve` takes such matrices, as it "
        "exchanges rows");
  CHECK(tenon::all(b == 1.0));
  const tenon::tensor<double, rank<1>> short_band = {1, 1, 1};
  CHECK(text_of<tenon::shape_error>([&] { tenon::solve_tridiagonal(short_band, 4, short_band, b); }) ==
        "solve_tridiagonal: axis 1: extents 3 and 4 differ, expected equal or one of them 1 (operands [3] and [2, 4])");
}

TEST_CASE("a device writes NaN for a system without a pivot", "[tridiagonal]") {
  const tenon::tensor<double, rank<2>> diagonal = {{1, 1, 1}, {0, 2, 3}};
  const auto b = tenon::ones<double>({2, 3}).to<tenon_test::distant>();
  const auto x = tenon_test::numbers_of(tenon::solve_tridiagonal(0, diagonal.to<tenon_test::distant>(), 0, b));
  const double nan = tenon_test::nan_value;
  CHECK(difference(x, {1, 1, 1, nan, nan, nan}) == "");
}
