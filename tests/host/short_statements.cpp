// tests/host/short_statements.cpp: pointwise statements over elements in index order, in the calling code.
// Which statements run so, and their values beside sums by hand: what overlaps, repeats or lies across must not.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/short_statements.hpp>
#include <tenon/tenon.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/text_of.hpp"

using tenon::range;
using tenon::rank;
using tenon_test::counting;
using tenon_test::text_of;

namespace {

/// Whether a statement runs in the calling code.
template <class T, class Shape, class E>
bool runs_short(const tenon::view<T, Shape, tenon::host>& destination, const E& expression) {
  return tenon::detail::run_short_host(destination, tenon::as_node(expression));
}

/// Numbers without a pattern, NaN among them.
tenon::tensor<float, rank<1>> mixed_numbers(tenon::index count, float scale) {
  tenon::tensor<float, rank<1>> result({count});
  for (tenon::index i = 0; i < count; ++i) {
    result(i) = i % 37 == 5 ? std::numeric_limits<float>::quiet_NaN() : scale * static_cast<float>(i * 31 % 17 - 8);
  }
  return result;
}

}  // namespace

TEST_CASE("statements in index order have the values of a plain loop", "[short_statements]") {
  for (const tenon::index count : {0, 1, 3, 7, 8, 15, 16, 17, 33, 1000, 16384}) {
    const auto a = mixed_numbers(count, 0.5f), b = mixed_numbers(count, -1.25f);
    tenon::tensor<float, rank<1>> y({count});
    y = (a * b + 2.0f) * 0.5f - b / (1.0f + a * a);
    bool right = true;
    for (tenon::index i = 0; i < count; ++i) {
      const double expected =
          (double{a(i)} * double{b(i)} + 2) * 0.5 - double{b(i)} / (1 + double{a(i)} * double{a(i)});
      right = right && (std::isnan(expected) ? std::isnan(y(i)) : std::abs(y(i) - expected) < 1e-4);
    }
    CAPTURE(count);
    CHECK(right);
  }
}

TEST_CASE("a statement runs in the calling code where all lies in index order", "[short_statements]") {
  tenon::tensor<float, rank<2>> a = counting<float>(rank<2>(6, 5)), b = a + 1.0f, y({6, 5});
  const auto whole = y.write_view();
  CHECK(runs_short(whole, a + b * 2.0f));
  CHECK(runs_short(whole, a));
  CHECK(runs_short(tenon::slice(y, range(2, 4)), tenon::slice(a, range(1, 3)) * tenon::slice(b, range(0, 2))));
  CHECK_FALSE(runs_short(whole, a + tenon::slice(b, range(0, 1))));        // repeats
  CHECK_FALSE(runs_short(whole, a + tenon::tensor<float, rank<1>>({5})));  // repeats, by its type
  CHECK_FALSE(runs_short(whole, a + tenon::flip(b, tenon::axis<1>)));      // goes back
  CHECK_FALSE(runs_short(tenon::slice(y, range(0, 6), range(0, 3)), tenon::slice(a, range(0, 6), range(1, 4))));
  tenon::tensor<float, rank<1>> line({30});
  CHECK(runs_short(line.write_view(), tenon::arange<float>(30) * 2.0f + tenon::reshape(a, rank<1>(30))));
  for (tenon::index i = 0; i < 30; ++i) CHECK(line(i) == static_cast<float>(3 * i));
  CHECK_FALSE(runs_short(line.write_view(), tenon::arange<float>(1) + line));
  tenon::tensor<float, rank<2>> square = counting<float>(rank<2>(6, 6)), across({6, 6});
  CHECK_FALSE(runs_short(across.write_view(), tenon::transpose(square) + square));
}

TEST_CASE("axes of one element lie in index order", "[short_statements]") {
  const auto row = counting<float>(rank<2>(1, 21));
  const auto column = counting<float>(rank<2>(21, 1));
  tenon::tensor<float, rank<2>> y({1, 21}), z({21, 1});
  CHECK(runs_short(y.write_view(), row * row));
  CHECK(runs_short(z.write_view(), column + 1.0f));
  for (tenon::index i = 0; i < 21; ++i) {
    CHECK(y(0, i) == static_cast<float>(i * i));
    CHECK(z(i, 0) == static_cast<float>(i + 1));
  }
  tenon::tensor<float, rank<1>> one({1});
  CHECK(runs_short(one.write_view(), tenon::slice(tenon::reshape(row, rank<1>(21)), range(20, 21)) * 2.0f));
  CHECK(one(0) == 40);
}

TEST_CASE("a statement that reads beside what it writes is left to others", "[short_statements]") {
  auto x = counting<float>(rank<1>(100));
  const auto front = tenon::slice(x, range(0, 99)), back = tenon::slice(x, range(1, 100));
  CHECK_FALSE(runs_short(back, front + 1.0f));
  CHECK_FALSE(runs_short(front, back + 1.0f));
  CHECK(runs_short(tenon::slice(x, range(0, 50)), tenon::slice(x, range(50, 100)) + 0.0f));  // beside, not in
  for (tenon::index i = 0; i < 50; ++i) CHECK(x(i) == static_cast<float>(i + 50));
  CHECK(runs_short(front, front * 2.0f));  // each element in its place
  auto z = counting<float>(rank<1>(100));
  tenon::slice(z, range(1, 100)) = tenon::slice(z, range(0, 99)) * 2.0f;
  for (tenon::index i = 1; i < 100; ++i) CHECK(z(i) == static_cast<float>(2 * i - 2));
  tenon::tensor<int, rank<1>> numbers({4});
  numbers = 7;
  const tenon::view<float, rank<1>, tenon::host> same(reinterpret_cast<float*>(numbers.data()), rank<1>(4));
  CHECK_FALSE(runs_short(same, numbers + 1));  // another type in the same place
}

TEST_CASE("extents of one axis that differ are refused", "[short_statements]") {
  const auto three = counting<float>(rank<1>(3)), four = counting<float>(rank<1>(4)), one = counting<float>(rank<1>(1));
  tenon::tensor<float, rank<1>> y({4});
  y = 5.0f;
  CHECK(text_of<tenon::shape_error>([&] { y = four + three; }) ==
        "add: axis 0: extents 4 and 3 differ, expected equal or one of them 1 (operands [4] and [3])");
  CHECK(y(3) == 5);
  y = one + four;
  CHECK(y(3) == 3);
  y = four * (one + 2.0f);
  CHECK(y(3) == 6);
}
