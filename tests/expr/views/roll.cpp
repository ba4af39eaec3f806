// tests/expr/views/roll.cpp: elements moved around an axis.
// Every shift of small axes is compared with the definition, (i - shift) modulo the extent.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/roll.hpp>

#include <random>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon::shape;
using tenon_test::counting;
using tenon_test::numbers_of;
using numbers = std::vector<double>;

/// The remainder that is never negative.
tenon::index wrapped(tenon::index position, tenon::index extent) { return ((position % extent) + extent) % extent; }

/// `values` of [outer, extent, inner], rolled along the middle.
numbers rolled(const numbers& values, tenon::index outer, tenon::index extent, tenon::index inner, tenon::index shift) {
  numbers result;
  for (tenon::index o = 0; o < outer; ++o) {
    for (tenon::index i = 0; i < extent; ++i) {
      for (tenon::index k = 0; k < inner; ++k) {
        const tenon::index from = (o * extent + wrapped(i - shift, extent)) * inner + k;
        result.push_back(values[static_cast<std::size_t>(from)]);
      }
    }
  }
  return result;
}

/// What a stencil of a matrix of x(i, j) gives around (i, j), moved down and to the right.
template <class Seen>
numbers stencil(const Seen& x, tenon::index down, tenon::index right) {
  const tenon::index m = x.shape().extent(0), n = x.shape().extent(1);
  numbers result;
  for (tenon::index i = 0; i < m; ++i) {
    for (tenon::index j = 0; j < n; ++j) {
      const auto above = static_cast<double>(x(wrapped(i - down, m), j)),
                 below = static_cast<double>(x(wrapped(i + down, m), j)),
                 left = static_cast<double>(x(i, wrapped(j - right, n))),
                 across = static_cast<double>(x(wrapped(i - down, m), wrapped(j + right, n)));
      result.push_back(above + below + left + across - 4 * static_cast<double>(x(i, j)));
    }
  }
  return result;
}
/// The same in one statement, into whole matrices, transposed ones and every second column of wider ones.
template <class T, class Seen>
void check_stencil(const Seen& x, tenon::index down, tenon::index right) {
  const tenon::index m = x.shape().extent(0), n = x.shape().extent(1);
  CAPTURE(m, n, down, right);
  const auto expected = stencil(x, down, right);
  const auto statement = tenon::roll(x, down, axis<0>) + tenon::roll(x, -down, axis<0>) +
                         tenon::roll(x, right, axis<1>) + tenon::roll(x, {down, -right}, axis<0, 1>) - T(4) * x;
  tenon::tensor<T, rank<2>> whole({m, n}), turned({n, m}), wide({m, 2 * n});
  auto every_second = tenon::slice(wide, tenon::all_of, tenon::range(0, 2 * n, 2));
  whole = statement;
  tenon::transpose(turned) = statement;
  every_second = statement;
  CHECK(numbers_of(whole) == expected);
  CHECK(numbers_of(tenon::transpose(turned)) == expected);
  CHECK(numbers_of(every_second) == expected);
  whole = tenon::roll(T(2) * tenon::roll(x, right, axis<1>) + x, -right, axis<1>);
  CHECK(numbers_of(whole) == numbers_of(T(2) * x + tenon::roll(x, -right, axis<1>)));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("elements wrap around the end", "[roll]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<3>(3, 5, 7));
  const auto values = numbers_of(x);
  for (const tenon::index shift : {-12, -5, -1, 0, 1, 3, 5, 9}) {
    CHECK(numbers_of(tenon::roll(x, shift, axis<0>)) == rolled(values, 1, 3, 35, shift));
    CHECK(numbers_of(tenon::roll(x, shift, axis<1>)) == rolled(values, 3, 5, 7, shift));
    CHECK(numbers_of(tenon::roll(x, shift, axis<-1>)) == rolled(values, 15, 7, 1, shift));
    CHECK(numbers_of(tenon::roll(x * 2 + 1, shift, axis<1>) / 2) ==
          rolled(numbers_of((x * 2 + 1) / 2), 3, 5, 7, shift));
  }
  CHECK(numbers_of(tenon::roll(x, {{1, -2}}, axis<0, 2>)) == rolled(rolled(values, 1, 3, 35, 1), 15, 7, 1, -2));
  CHECK(numbers_of(tenon::roll(x, {{1, 4, -2}}, axis<0, 1, 2>)) ==
        rolled(rolled(rolled(values, 1, 3, 35, 1), 3, 5, 7, 4), 15, 7, 1, -2));
}

TEMPLATE_LIST_TEST_CASE("a rolled operand fuses wherever an operand may stand", "[roll]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(5, 37), 0, 0.25);
  const auto expected = tenon_test::tensor_of<TestType>(rank<2>(5, 37), [&] {
    std::vector<float> result;
    for (const double each : rolled(numbers_of(x), 1, 5, 37, 2)) result.push_back(static_cast<float>(each));
    return result;
  }());
  const auto moved = tenon::roll(x, 2, axis<0>);
  CHECK(tenon_test::difference(numbers_of(tenon::softmax(moved, axis<-1>)),
                               numbers_of(tenon::softmax(expected, axis<-1>)), 1e-6) == "");
  CHECK(numbers_of(tenon::sum(moved, axis<0>)) == numbers_of(tenon::sum(x, axis<0>)));
  CHECK(numbers_of(tenon::sum(moved, axis<1>)) == numbers_of(tenon::sum(expected, axis<1>)));
  CHECK(numbers_of(tenon::matmul(moved, tenon::transpose(moved))) ==
        numbers_of(tenon::matmul(expected, tenon::transpose(expected))));
  CHECK(numbers_of(tenon::transpose(moved)) == numbers_of(tenon::transpose(expected)));
  CHECK(numbers_of(tenon::slice(moved, tenon::range(1, 4), tenon::range(30, 2, -3))) ==
        numbers_of(tenon::slice(expected, tenon::range(1, 4), tenon::range(30, 2, -3))));
  CHECK(numbers_of(moved + tenon::slice(moved, tenon::only(1))) ==
        numbers_of(expected + tenon::slice(expected, tenon::only(1))));
  STATIC_REQUIRE(tenon::kernel_count<decltype(tenon::softmax(moved, axis<-1>))> == 1);
}

TEMPLATE_LIST_TEST_CASE("what a statement overwrites is read first by roll", "[roll]", tenon_test::spaces) {
  auto x = counting<float, TestType>(rank<1>(100));
  const auto expected = rolled(numbers_of(x), 1, 100, 1, 1);
  x = tenon::roll(x, 1, axis<0>);
  CHECK(numbers_of(x) == expected);
}

TEMPLATE_LIST_TEST_CASE("a reduction is evaluated before it is rolled", "[roll]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(4, 3));
  CHECK(numbers_of(tenon::roll(tenon::sum(x, axis<1>), 1, axis<0>)) == numbers{30, 3, 12, 21});
  CHECK(numbers_of(x * 0 + tenon::roll(tenon::sum(x, axis<1>), 1, axis<0>)) ==
        numbers{30, 30, 30, 3, 3, 3, 12, 12, 12, 21, 21, 21});
}

TEST_CASE("static extents survive a roll, empty axes too", "[roll]") {
  const tenon::tensor<float, shape<2, 3>> x;
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::roll(x, 1, axis<0>))::shape_type, shape<2, 3>>);
  const tenon::tensor<float, rank<2>> empty(rank<2>(3, 0));
  CHECK(numbers_of(tenon::roll(empty, 1, axis<1>)).empty());
}

TEST_CASE("a rolled temporary lives as long as the expression", "[roll]") {
  const auto rolled_later = [] { return tenon::roll(counting<float>(rank<1>(4)), -1, axis<0>); }();
  CHECK(numbers_of(rolled_later) == numbers{1, 2, 3, 0});
}

TEMPLATE_TEST_CASE("statements of several rolls are as loops have them", "[roll]", float, double, std::int32_t) {
  std::mt19937 random(91);
  const auto draw = [&](tenon::index most) { return static_cast<tenon::index>(random() % 10000) % (most + 1); };
  for (int round = 0; round < 40; ++round) {
    const tenon::index m = round % 5 == 4 ? draw(1) : draw(7), n = round % 4 == 3 ? draw(3) : draw(70);
    tenon::tensor<TestType, rank<2>> x({m, n}), turned({n, m}), wide({m, 3 * n});
    auto apart = tenon::slice(wide, tenon::all_of, tenon::range(0, 3 * n, 3));
    for (tenon::index i = 0; i < m; ++i) {
      for (tenon::index j = 0; j < n; ++j) x(i, j) = static_cast<TestType>((13 * i + 3 * j) % 61);
    }
    turned = tenon::transpose(x), apart = x;
    const tenon::index down = draw(4 * m) - 2 * m, right = round % 3 == 0 ? 1 : draw(4 * n) - 2 * n;
    check_stencil<TestType>(x.view(), down, right);
    check_stencil<TestType>(tenon::transpose(turned), down, right);
    check_stencil<TestType>(apart, down, right);
    check_stencil<TestType>(tenon::flip(x, axis<1>), down, right);
    check_stencil<TestType>(tenon::flip(x, axis<0>), down, right);
  }
}

TEST_CASE("a rolled row is a few runs", "[roll]") {
  const auto x = counting<float>(rank<2>(3, 10));
  const auto row_of = [](const auto& node) {
    return node.template lower<0>(tenon::identity_map<2>()).at(tenon::array<tenon::index, 2>{{1, 0}});
  };
  const auto ends_of = [](const auto& row) {
    std::vector<tenon::index> ends;
    for (tenon::index i = 0; i < 10; i = ends.back()) ends.push_back(tenon::run_end(row, i, 10));
    return ends;
  };
  using ends = std::vector<tenon::index>;
  CHECK(ends_of(row_of(tenon::roll(x, 3, axis<1>))) == ends{3, 10});
  CHECK(ends_of(row_of(tenon::roll(x, -1, axis<1>))) == ends{9, 10});
  CHECK(ends_of(row_of(tenon::roll(x, 20, axis<1>))) == ends{10});
  CHECK(ends_of(row_of(tenon::roll(x, 1, axis<0>))) == ends{10});
  const auto several = row_of(tenon::roll(x * 2 + tenon::roll(x, 1, axis<1>), 4, axis<1>) - tenon::roll(x, 1, axis<0>));
  REQUIRE(tenon::lies_in_runs(several));
  CHECK(ends_of(several) == ends{4, 5, 10});
  const auto run = tenon::run_from(several, 5);
  STATIC_REQUIRE(!tenon::has_runs<decltype(run)>);
  for (tenon::index i = 5; i < 10; ++i) {
    CHECK(run.value(i, tenon::no_slots{}) == several.value(i, tenon::no_slots{}));
  }
  CHECK_FALSE(tenon::lies_in_runs(row_of(tenon::roll(tenon::flip(x, axis<1>), 1, axis<1>))));
  CHECK_FALSE(tenon::lies_in_runs(row_of(tenon::flip(tenon::roll(x, 1, axis<1>), axis<1>))));
}
