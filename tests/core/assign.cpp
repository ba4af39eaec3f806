// tests/core/assign.cpp: the hook between tensors and the evaluator.
// What counts as an expression and what fits where; the primary template is a readable sentence (see compile_fail).
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/assign.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

TEST_CASE("nodes are expressions, tensors and numbers are not", "[assign]") {
  using matrix = tenon::tensor<float, tenon::rank<2>>;
  STATIC_REQUIRE(tenon::expression_node<decltype(std::declval<matrix&>() + 1)>);
  STATIC_REQUIRE(tenon::expression_node<decltype(tenon::sum(std::declval<matrix&>()))>);
  STATIC_REQUIRE(!tenon::expression_node<matrix>);
  STATIC_REQUIRE(!tenon::expression_node<float>);
}

TEST_CASE("tensors and views are assigned through the hook", "[assign]") {
  tenon::tensor<float, tenon::rank<1>> a({2}, {1, 2}), b({2});
  b = a + 1;
  CHECK(b(1) == 3.0f);
  b.view() = a * 10;
  CHECK(b(1) == 20.0f);
  const tenon::tensor<float, tenon::rank<1>> c = a - 1;
  CHECK(c(0) == 0.0f);
}

TEST_CASE("types tell which expressions a destination holds", "[assign]") {
  using tenon::dyn;
  using tenon::shape;
  STATIC_REQUIRE(tenon::ranks_fit<shape<dyn>, shape<dyn, 1>>());
  STATIC_REQUIRE(tenon::ranks_fit<shape<dyn, dyn>, shape<>>());
  STATIC_REQUIRE(!tenon::ranks_fit<shape<dyn>, shape<dyn, dyn>>());
  STATIC_REQUIRE(tenon::extents_fit<shape<3, 4>, shape<dyn, 1>>());
  STATIC_REQUIRE(tenon::extents_fit<shape<3, 4>, shape<4>>());
  STATIC_REQUIRE(!tenon::extents_fit<shape<3, 4>, shape<3>>());
  STATIC_REQUIRE(!tenon::extents_fit<shape<1, 4>, shape<3, 4>>());
  STATIC_REQUIRE(tenon::shape_carries_over<shape<dyn>, shape<3, 1>>());
  STATIC_REQUIRE(!tenon::shape_carries_over<shape<3, 4>, shape<1, 4>>());
  STATIC_REQUIRE(!tenon::shape_carries_over<shape<3, 4>, shape<4>>());
  STATIC_REQUIRE(std::is_same_v<tenon::assigned<float>::shape_type, shape<>>);
  STATIC_REQUIRE(std::is_same_v<tenon::assigned<tenon::tensor<float, shape<2>>>::shape_type, shape<2>>);
}
