// tests/expr/other_headers.cpp: functions that are declared are called, whatever the types of their arguments.
// Without their header, tests/compile_fail shows what the compiler says.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/other_headers.hpp>

#include <sstream>
#include <tenon/expressions.hpp>
#include <tenon/io/print.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;
using numbers = std::vector<double>;

namespace {
namespace own_names {

using namespace std;
using namespace tenon;

/// Functions of a program that have names of NumPy and PyTorch.
template <class Operand>
auto clip(const Operand& x, float most) {
  return minimum(x, most);
}
double power(double x, double y) { return std::pow(x, y); }
double var(double x, int) { return x; }

auto clipped(const tensor<float, tenon::rank<1>>& x) { return clip(x, 1); }
double of_numbers() { return power(2, 3) + var(2, 3); }

}  // namespace own_names
}  // namespace

TEST_CASE("a program's own functions go before names of NumPy", "[other_headers]") {
  const auto x = counting<float>(rank<1>(3));
  CHECK(numbers_of(own_names::clipped(x)) == numbers{0, 1, 1});
  CHECK(own_names::of_numbers() == 10);
}

TEST_CASE("products with their header are products", "[other_headers]") {
  auto x = counting<float>(rank<2>(2, 2));
  const auto y = x;
  CHECK(numbers_of(tenon::matmul(x, y)) == numbers_of(tenon::matmul(y, std::move(x))));
  CHECK(numbers_of(tenon::gemm(1, y, y, 0, y)) == numbers_of(tenon::matmul(y, y)));
  CHECK(numbers_of(tenon::einsum<"ij,jk->ik">(y, y)) == numbers_of(tenon::matmul(y, y)));
  CHECK(numbers_of(tenon::tensordot<1>(y, y)) == numbers_of(tenon::matmul(y, y)));
  const auto line = counting<double>(rank<1>(3));
  CHECK(numbers_of(tenon::outer(line, line)).size() == 9);
  CHECK(static_cast<double>(tenon::dot(line, line)) == static_cast<double>(tenon::sum(line * line)));
}

TEST_CASE("algorithms and random numbers with their headers take what converts", "[other_headers]") {
  const tenon::tensor<float, rank<1>> x({5}, {3, 1, 2, 1, 5});
  CHECK(numbers_of(tenon::sort(x, axis<0>)) == numbers{1, 1, 2, 3, 5});
  CHECK(numbers_of(tenon::argsort(x, axis<0>)).front() == 1);
  CHECK(numbers_of(tenon::topk(x, 2, axis<0>).values) == numbers{5, 3});
  CHECK(numbers_of(tenon::unique(x).values) == numbers{1, 2, 3, 5});
  CHECK(numbers_of(tenon::histogram(x, 2, 1, 5)).size() == 2);
  CHECK(numbers_of(tenon::masked_select(x, x > 2)) == numbers{3, 5});
  CHECK(numbers_of(tenon::uniform<float>(rank<1>(4), 7)).size() == 4);
  CHECK(numbers_of(tenon::randint<int>(rank<1>(4), 7, 0, 1)) == numbers{0, 0, 0, 0});
  CHECK(numbers_of(tenon::permutation(1, 7)) == numbers{0});
}

TEST_CASE("streams of any kind take tensors with the header of printing", "[other_headers]") {
  auto x = counting<float>(rank<1>(2));
  std::ostringstream text;
  std::ostream& stream = text;
  text << x << std::hex;
  stream << x + 1 << " " << x.view();
  CHECK(text.str() == "[0. 1.][1. 2.] [0. 1.]");
  text.str("");
  text << tenon::sum(x);
  CHECK(text.str() == "1.0");
}
