// tests/expr/views/index_map.cpp: the one node of slices, permutations, new axes and windows.
// Maps of maps are compared with the same steps taken one at a time through tensors.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/index_map.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::axis;
using tenon::range;
using tenon::rank;
using tenon_test::counting;
using tenon_test::elements_of;

}  // namespace

TEMPLATE_LIST_TEST_CASE("maps compose in any order", "[index_map]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<3>(4, 5, 6));
  const auto e = x * 1;  // an expression, so that nodes and not views are composed
  const auto steps = [](const auto& operand) {
    const auto first = tenon::slice(operand, range(3, 0, -1), range(1, 5, 2));
    const auto second = tenon::permute(first, axis<2, 0, 1>);
    const auto third = tenon::slice(second, range(4, tenon::open_end, -2), tenon::all_of, range(1, 2));
    return tenon::transpose(tenon::new_axis<1>(third));
  };
  const auto slow = [](const auto& operand) {
    const auto first = tenon::evaluated_tensor(tenon::slice(operand, range(3, 0, -1), range(1, 5, 2)));
    const auto second = tenon::evaluated_tensor(tenon::permute(first, axis<2, 0, 1>));
    const auto third =
        tenon::evaluated_tensor(tenon::slice(second, range(4, tenon::open_end, -2), tenon::all_of, range(1, 2)));
    return tenon::evaluated_tensor(tenon::transpose(tenon::evaluated_tensor(tenon::new_axis<1>(third))));
  };
  CHECK(elements_of(steps(e)) == elements_of(slow(x)));
  CHECK(elements_of(steps(x)) == elements_of(slow(x)));
  CHECK(tenon_test::extents_of(steps(e)) == tenon_test::extents_of(slow(x)));
}

TEMPLATE_LIST_TEST_CASE("maps look through broadcasts", "[index_map]", tenon_test::spaces) {
  const auto column = counting<float, TestType>(rank<2>(3, 1));
  const auto row = counting<float, TestType>(rank<1>(4), 10, 10);
  const auto table = tenon::evaluated_tensor(column + row);
  const auto part = [](const auto& operand) {
    return tenon::transpose(tenon::slice(operand, range(2, 0, -1), range(1, 4, 2)));
  };
  CHECK(elements_of(part(column + row)) == elements_of(part(table)));
}

TEST_CASE("a map of a tensor is a view of its elements, a map of an rvalue owns them", "[index_map]") {
  auto x = counting<float>(rank<2>(2, 3));
  auto view = tenon::transpose(x);
  STATIC_REQUIRE(std::is_same_v<decltype(view), tenon::view<float, rank<2>>>);
  view(2, 1) = 100;
  CHECK(x(1, 2) == 100.0f);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::transpose(std::as_const(x))), tenon::view<const float, rank<2>>>);
  const auto owned = tenon::transpose(counting<float>(rank<2>(2, 3)));
  CHECK(elements_of(owned) == std::vector<float>{0, 3, 1, 4, 2, 5});
}

TEST_CASE("a mapped reduction keeps its meaning", "[index_map]") {
  const auto x = counting<float>(rank<2>(2, 3));
  CHECK(elements_of(tenon::transpose(tenon::sum(x, axis<1>))) == std::vector<float>{3, 12});
  CHECK(elements_of(tenon::slice(tenon::sum(x, axis<0>), tenon::all_of, range(2, tenon::open_end, -1))) ==
        std::vector<float>{7, 5, 3});
  CHECK(elements_of(tenon::transpose(tenon::matmul(x, tenon::transpose(x)) + x.view()(0, 0))) ==
        std::vector<float>{5, 14, 14, 50});
}

TEST_CASE("a shape takes another extent at one axis", "[index_map]") {
  const auto changed = tenon::with_extent<1>(tenon::shape<2, 3, 4>{}, 7);
  STATIC_REQUIRE(std::is_same_v<decltype(changed), const tenon::shape<2, tenon::dyn, 4>>);
  CHECK(changed == tenon::rank<3>(2, 7, 4));
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::with_extent<0, 5>(tenon::rank<2>(1, 2))), tenon::shape<5, tenon::dyn>>);
}
