// tests/expr/compound_assignment.cpp: x += y and its kin.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#include <tenon/grad/traced.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;
using numbers = std::vector<double>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("compound assignment changes tensors and views where they are", "[compound_assignment]",
                        tenon_test::spaces) {
  auto x = counting<float, TestType>(rank<2>(2, 3), 1);
  const auto row = counting<float, TestType>(rank<1>(3), 1);
  auto& same = x += row;
  CHECK(&same == &x);
  CHECK(numbers_of(x) == numbers{2, 4, 6, 5, 7, 9});
  x -= 1, x *= row, x /= 2;
  CHECK(numbers_of(x) == numbers{0.5, 3, 7.5, 2, 6, 12});
  tenon::slice(x, tenon::only(0)) += row;
  x.view() %= 4;
  CHECK(numbers_of(x) == numbers{1.5, 1, 2.5, 2, 2, 0});
  auto whole = counting<std::int32_t, TestType>(rank<1>(3), 1);
  whole *= 2.5;
  CHECK(numbers_of(whole) == numbers{2, 5, 7});
}

TEMPLATE_LIST_TEST_CASE("bits are changed where they are", "[compound_assignment]", tenon_test::spaces) {
  auto x = tenon_test::tensor_of<TestType, std::int32_t>(rank<1>(3), {1, 6, 12});
  x |= 1, x &= 13, x ^= 2, x <<= 2, x >>= 1;
  CHECK(numbers_of(x) == numbers{6, 14, 30});
}

TEMPLATE_LIST_TEST_CASE("what a compound assignment reads is as it was before", "[compound_assignment]",
                        tenon_test::spaces) {
  auto x = counting<float, TestType>(rank<2>(3, 3), 1);
  x += tenon::transpose(x);
  CHECK(numbers_of(x) == numbers{2, 6, 10, 6, 10, 14, 10, 14, 18});
  x -= tenon::max(x, tenon::axis<1>);
  CHECK(numbers_of(x) == numbers{-8, -4, 0, -8, -4, 0, -8, -4, 0});
}

TEST_CASE("compound assignment keeps the extents of its destination", "[compound_assignment]") {
  auto x = counting<float>(rank<2>(2, 1));
  const auto wide = counting<float>(rank<2>(2, 3)), other = counting<float>(rank<2>(4, 1));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { x += wide; }) ==
        "assign: axis 1: extent 3, expected 1 (expression [2, 3], destination [2, 1])");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { x *= other; }) ==
        "multiply: axis 0: extents 2 and 4 differ, expected equal or one of them 1 (operands [2, 1] and [4, 1])");
  CHECK(numbers_of(x) == numbers{0, 1});
  tenon::tensor<float, rank<2>> none;
  CHECK_THROWS_AS(none += wide, tenon::shape_error);
  const auto fixed = x;
  STATIC_REQUIRE_FALSE(tenon::updated_by<decltype((fixed)), tenon::add_op, int>);
  STATIC_REQUIRE_FALSE(tenon::updated_by<decltype(x + 1), tenon::add_op, int>);
}

TEMPLATE_LIST_TEST_CASE("a traced value names the result of its compound assignment", "[compound_assignment]",
                        tenon_test::spaces) {
  const auto x = tenon_test::tensor_of<TestType, double>(rank<1>(2), {3, -2});
  const auto v = tenon::variable(x);
  tenon::traced h = v * v;
  const auto before = h;
  h += v, h *= 2.0;
  CHECK(numbers_of<TestType>(before) == numbers{9, 4});
  CHECK(numbers_of<TestType>(h) == numbers{24, 4});
  tenon::backward(tenon::sum(h));
  CHECK(numbers_of<TestType>(v.gradient()) == numbers{14, -6});
}
