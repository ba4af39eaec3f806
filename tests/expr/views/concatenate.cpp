// tests/expr/views/concatenate.cpp: several operands as one.
// Compared with loops that copy one operand after another.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/concatenate.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon::shape;
using tenon_test::counting;
using tenon_test::numbers_of;
using tenon_test::text_of;
using numbers = std::vector<double>;

/// The operand's elements as [outer, length].
struct part {
  numbers values;
  std::size_t length;
};

/// Parts behind each other, `outer` times.
numbers joined(std::size_t outer, const std::vector<part>& parts) {
  numbers result;
  for (std::size_t o = 0; o < outer; ++o) {
    for (const auto& [values, length] : parts) {
      for (std::size_t i = 0; i < length; ++i) result.push_back(values[o * length + i]);
    }
  }
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("operands stand behind each other", "[concatenate]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<3>(2, 3, 37)), y = counting<float, TestType>(rank<3>(2, 4, 37), -500),
             z = counting<float, TestType>(rank<3>(2, 1, 37), 900);
  const auto xs = numbers_of(x), ys = numbers_of(y), zs = numbers_of(z);
  const auto along_1 = tenon::concatenate(axis<1>, x, y, z);
  CHECK(along_1.shape() == rank<3>(2, 8, 37));
  CHECK(numbers_of(along_1) == joined(2, {{xs, 111}, {ys, 148}, {zs, 37}}));
  CHECK(numbers_of(tenon::concatenate(axis<0>, x, x + 1)) == joined(1, {{xs, 222}, {numbers_of(x + 1), 222}}));
  CHECK(numbers_of(tenon::concatenate(axis<-1>, x, x, x)) == joined(6, {{xs, 37}, {xs, 37}, {xs, 37}}));
  CHECK(numbers_of(tenon::concatenate(axis<0>, x)) == xs);
}

TEMPLATE_LIST_TEST_CASE("operands without elements add none", "[concatenate]", tenon_test::spaces) {
  const auto none = counting<float, TestType>(rank<2>(3, 0)), some = counting<float, TestType>(rank<2>(3, 2));
  CHECK(numbers_of(tenon::concatenate(axis<1>, none, some, none)) == numbers_of(some));
  CHECK(numbers_of(tenon::concatenate(axis<0>, none, none)).empty());
}

TEMPLATE_LIST_TEST_CASE("element types are promoted", "[concatenate]", tenon_test::spaces) {
  const auto small = counting<std::int32_t, TestType>(rank<1>(3));
  const auto large = counting<double, TestType>(rank<1>(2), 0.5);
  const auto both = tenon::concatenate(axis<0>, small, large);
  STATIC_REQUIRE(std::is_same_v<typename decltype(both)::element, double>);
  CHECK(numbers_of(both) == numbers{0, 1, 2, 0.5, 1.5});
}

TEMPLATE_LIST_TEST_CASE("stack adds an axis", "[concatenate]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(2, 3)), y = counting<float, TestType>(rank<2>(2, 3), 10);
  const auto xs = numbers_of(x), ys = numbers_of(y);
  CHECK(tenon::stack(axis<0>, x, y).shape() == rank<3>(2, 2, 3));
  CHECK(tenon::stack(axis<-1>, x, y, x).shape() == rank<3>(2, 3, 3));
  CHECK(numbers_of(tenon::stack(axis<0>, x, y)) == joined(1, {{xs, 6}, {ys, 6}}));
  CHECK(numbers_of(tenon::stack(axis<1>, x, y)) == joined(2, {{xs, 3}, {ys, 3}}));
  CHECK(numbers_of(tenon::stack(axis<-1>, x, y)) == joined(6, {{xs, 1}, {ys, 1}}));
}

TEMPLATE_LIST_TEST_CASE("a concatenation fuses wherever an operand may stand", "[concatenate]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(3, 5), 0, 0.125), y = counting<float, TestType>(rank<2>(3, 9));
  const auto both = tenon::concatenate(axis<1>, x, y);
  const auto stored = tenon::evaluated_tensor(both);
  CHECK(numbers_of(tenon::sum(both, axis<0>)) == numbers_of(tenon::sum(stored, axis<0>)));
  CHECK(numbers_of(tenon::softmax(both, axis<1>)) == numbers_of(tenon::softmax(stored, axis<1>)));
  CHECK(numbers_of(tenon::matmul(both, tenon::transpose(both))) ==
        numbers_of(tenon::matmul(stored, tenon::transpose(stored))));
  CHECK(numbers_of(tenon::slice(both, tenon::range(1, 3), tenon::range(11, 1, -2))) ==
        numbers_of(tenon::slice(stored, tenon::range(1, 3), tenon::range(11, 1, -2))));
  STATIC_REQUIRE(tenon::kernel_count<decltype(tenon::softmax(both, axis<1>))> == 1);
}

TEMPLATE_LIST_TEST_CASE("reductions are evaluated before they are joined", "[concatenate]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(2, 3));
  CHECK(numbers_of(tenon::concatenate(axis<1>, tenon::sum(x, axis<1>), x, tenon::max(x, axis<1>))) ==
        numbers{3, 0, 1, 2, 2, 12, 3, 4, 5, 5});
}

TEMPLATE_LIST_TEST_CASE("a destination among the operands is read first", "[concatenate]", tenon_test::spaces) {
  auto x = counting<float, TestType>(rank<1>(64));
  x = tenon::concatenate(axis<0>, tenon::slice(x, tenon::range(40, 64)), tenon::slice(x, tenon::range(0, 40)));
  const auto values = numbers_of(x);
  CHECK(values[0] == 40);
  CHECK(values[24] == 0);
  CHECK(values[63] == 39);
}

TEST_CASE("static extents are added", "[concatenate]") {
  const tenon::tensor<float, shape<2, 3>> x;
  const tenon::tensor<float, shape<2, 4>> y;
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::concatenate(axis<1>, x, y))::shape_type, shape<2, 7>>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::stack(axis<1>, x, x))::shape_type, shape<2, 2, 3>>);
}

TEST_CASE("operands that do not fit behind each other are refused", "[concatenate]") {
  const auto x = counting<float>(rank<2>(2, 3)), y = counting<float>(rank<2>(2, 4));
  CHECK(text_of<tenon::shape_error>([&] { tenon::concatenate(axis<0>, x, y); }) ==
        "concatenate: axis 1: extents 3 and 4 differ, expected equal (operands [2, 3] and [2, 4])");
  CHECK(text_of<tenon::shape_error>([&] { tenon::stack(axis<0>, x, y); }) ==
        "stack: axis 2: extents 3 and 4 differ, expected equal (operands [1, 2, 3] and [1, 2, 4])");
}
