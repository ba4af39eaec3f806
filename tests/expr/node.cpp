// tests/expr/node.cpp: how expressions hold their operands.
// Lvalues by view, rvalues owned, numbers by value; one memory space for all.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/node.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace {

using tenon::host;
using tenon::rank;
using tenon_test::elements_of;
using matrix = tenon::tensor<float, rank<2>>;

struct other_space : host {};

matrix made() { return matrix({2, 2}, {1, 2, 3, 4}); }

}  // namespace

TEST_CASE("tensors, views, numbers and expressions become nodes", "[node]") {
  STATIC_REQUIRE(tenon::expression<tenon::node_of<matrix&>>);
  STATIC_REQUIRE(tenon::expression<tenon::node_of<matrix>>);
  STATIC_REQUIRE(tenon::expression<tenon::node_of<float>>);
  STATIC_REQUIRE(std::is_same_v<tenon::node_of<tenon::view<const float, rank<1>>>, tenon::leaf<float, rank<1>, host>>);
  STATIC_REQUIRE(tenon::tensor_operand<const matrix&>);
  STATIC_REQUIRE(!tenon::tensor_operand<float>);
  STATIC_REQUIRE(tenon::operands_of_expression<matrix&, float>);
  STATIC_REQUIRE(!tenon::operands_of_expression<float, float>);
  STATIC_REQUIRE(!tenon::operands_of_expression<matrix&, const char*>);
}

TEST_CASE("an lvalue is seen, so later changes show", "[node]") {
  matrix a = made();
  const auto e = a + 1;
  a(0, 0) = 100;
  CHECK(elements_of(e)[0] == 101.0f);
}

TEST_CASE("an rvalue is owned by every copy of the expression", "[node]") {
  std::vector<float> values;
  {
    const auto copy = [] {
      const auto e = made() * 2;
      return e + made();
    }();
    const auto again = copy;
    values = elements_of(again);
  }
  CHECK(values == std::vector<float>{3, 6, 9, 12});
}

TEST_CASE("an owned tensor has one memory, however often the expression is copied", "[node]") {
  matrix a = made();
  const float* const memory = a.data();
  const auto node = tenon::as_node(std::move(a));
  const auto copy = node;
  CHECK(copy.elements.data() == memory);
  CHECK(node.elements.data() == memory);
}

TEST_CASE("numbers are held by value", "[node]") {
  const matrix a = made();
  const auto e = [&] {
    const float local = 5;
    return a * local;
  }();
  CHECK(elements_of(e)[3] == 20.0f);
}

TEST_CASE("numbers and generators take the space of their partners", "[node]") {
  using tenon::any_space;
  STATIC_REQUIRE(std::is_same_v<tenon::common_space<any_space, host>::type, host>);
  STATIC_REQUIRE(std::is_same_v<tenon::common_space<host, any_space, host>::type, host>);
  STATIC_REQUIRE(std::is_same_v<tenon::common_space<any_space, any_space>::type, any_space>);
  STATIC_REQUIRE(std::is_same_v<tenon::common_space<any_space, other_space, other_space>::type, other_space>);
}

TEST_CASE("slots count reductions and contractions, nested ones too", "[node]") {
  const matrix a = made();
  STATIC_REQUIRE(tenon::slot_count<decltype(a + a)> == 0);
  STATIC_REQUIRE(tenon::slot_count<decltype(tenon::sum(a))> == 1);
  STATIC_REQUIRE(tenon::slot_count<decltype(a / tenon::sum(a - tenon::max(a)))> == 2);
  STATIC_REQUIRE(tenon::slot_count<decltype(tenon::matmul(a, a) + tenon::sum(a))> == 2);
}
