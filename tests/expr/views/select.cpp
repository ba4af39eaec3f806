// tests/expr/views/select.cpp: one position of an axis, against loops.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/select.hpp>

#include <tenon/expressions.hpp>
#include <tenon/grad/traced.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/gradient.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

using tenon::axis;
using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon_test::numbers_of;

TEMPLATE_LIST_TEST_CASE("positions from the front and from the back", "[select]", tenon_test::spaces) {
  const auto x = tenon::evaluated_tensor<TestType>(tenon::arange<float>(24));
  const auto cube = tenon::reshape(x, shape<2, dyn, 4>(2, 3, 4));
  CHECK(numbers_of<TestType>(tenon::select(cube, axis<0>, 1) * 1) ==
        std::vector<double>{12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
  CHECK(numbers_of<TestType>(tenon::select(cube, axis<1>, -1) * 1) ==
        std::vector<double>{8, 9, 10, 11, 20, 21, 22, 23});
  CHECK(numbers_of<TestType>(tenon::select(tenon::select(cube, axis<-1>, 2), axis<0>, -2) * 1) ==
        std::vector<double>{2, 6, 10});
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::select(cube, axis<1>, 0).shape()), shape<2, 4>> ||
                 std::is_same_v<decltype(tenon::select(cube, axis<1>, 0).shape()), const shape<2, 4>&>);
}

TEST_CASE("what is selected of a tensor can be assigned to", "[select]") {
  tenon::tensor<float, rank<2>> x(tenon::zeros<float>(rank<2>(2, 3)));
  tenon::select(x, axis<1>, -1) = 5.0f;
  tenon::select(x, axis<0>, 0) = tenon::arange<float>(3) + 1;
  CHECK(numbers_of(x) == std::vector<double>{1, 2, 3, 0, 0, 5});
}

TEST_CASE("brackets select along the first axis", "[select]") {
  tenon::tensor<float, rank<2>> x(tenon::zeros<float>(rank<2>(3, 2)));
  x[1][-1] = 3.0f;
  x[std::size_t{0}] = tenon::arange<float>(2) + 1;
  x[-1] = x[0];
  x[2] += x[1];
  CHECK(numbers_of(x) == std::vector<double>{1, 2, 0, 3, 1, 5});
  const auto& fixed = x;
  STATIC_REQUIRE(std::is_same_v<decltype(fixed[1]), tenon::view<const float, rank<1>>>);
  STATIC_REQUIRE(std::is_same_v<decltype(fixed[1][0]), const float&>);
  CHECK(fixed[2][1] == 5.0f);
  CHECK(tenon_test::text_of<tenon::index_error>([&] { x[3]; }) ==
        "select: axis 0: position 3, expected within the extent 3 (operand [3, 2])");
  const tenon::tensor<float, rank<2>> none(rank<2>(0, 2));
  CHECK_THROWS_AS(none[0], tenon::index_error);
}

TEST_CASE("brackets slice the first axis", "[select]") {
  tenon::tensor<float, rank<2>> x(tenon::zeros<float>(rank<2>(4, 2)));
  x[tenon::range(1, 3)] = 7.0f;
  x[tenon::range(0, 4, 3)][1] = 2.0f;
  CHECK(numbers_of(x) == std::vector<double>{0, 0, 7, 7, 7, 7, 2, 2});
  CHECK(tenon_test::text_of<tenon::index_error>([&] { x[tenon::range(5, 6)]; }) ==
        "slice: axis 0: begin 5, expected within the extent 4");
}

TEMPLATE_LIST_TEST_CASE("parts of temporaries keep them", "[select]", tenon_test::spaces) {
  const auto made = [] { return tenon::evaluated_tensor<TestType>(tenon::iota<float>(rank<2>(2, 3))); };
  const auto row = made()[1];
  const auto rows = made()[tenon::range(1, 2)];
  CHECK(numbers_of<TestType>(row * 1) == std::vector<double>{3, 4, 5});
  CHECK(rows.shape() == rank<2>(1, 3));
  CHECK(static_cast<float>(tenon::evaluated_tensor<TestType>(tenon::arange<float>(4))[2]) == 2.0f);
}

TEST_CASE("parts of traced values", "[select]") {
  const auto x = tenon_test::drawn(rank<2>(3, 2), 1);
  const auto v = tenon::variable(x);
  const tenon::traced square = v * v;
  tenon::backward(tenon::sum(square[-1]) + square[0][1] + tenon::sum(square(tenon::range(1, 2), tenon::all_of)));
  tenon::backward(tenon::sum(square(tenon::range(0, 2), 0)));
  CHECK(numbers_of(v.gradient()) ==
        std::vector<double>{2 * x(0, 0), 2 * x(0, 1), 4 * x(1, 0), 2 * x(1, 1), 2 * x(2, 0), 2 * x(2, 1)});
}

TEMPLATE_LIST_TEST_CASE("parentheses take ranges and positions", "[select]", tenon_test::spaces) {
  using tenon::all_of;
  using tenon::range;
  auto x = tenon::evaluated_tensor<TestType>(tenon::iota<float>(shape<2, dyn, 4>(2, 3, 4)));
  CHECK(numbers_of<TestType>(x(all_of, 1, range(1, 3)) * 1) == std::vector<double>{5, 6, 17, 18});
  CHECK(numbers_of<TestType>(x(-1, range(0, 3, 2)) * 1) == std::vector<double>{12, 13, 14, 15, 20, 21, 22, 23});
  CHECK(numbers_of<TestType>(tenon::slice(x * 2)(all_of, all_of, -2)(1, range(1, 2)) * 1) == std::vector<double>{36});
  STATIC_REQUIRE(std::is_same_v<typename decltype(x(all_of, 1, 2u))::shape_type, shape<2>>);
  STATIC_REQUIRE(std::is_same_v<typename decltype(x(1, tenon::static_range<1, 3>{}))::shape_type, shape<dyn, 4>>);
  STATIC_REQUIRE(std::is_same_v<typename decltype(x(all_of))::shape_type, shape<2, dyn, 4>>);
  x(0, range(1, 3), 3) = -1;
  x(1, all_of) += 100;
  CHECK(numbers_of<TestType>(x * 1) == std::vector<double>{0,   1,   2,   3,   4,   5,   6,   -1,  8,   9,   10,  -1,
                                                           112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123});
  const auto kept = tenon::evaluated_tensor<TestType>(tenon::iota<float>(rank<2>(2, 3)))(all_of, 1);
  CHECK(numbers_of<TestType>(kept * 1) == std::vector<double>{1, 4});
  CHECK(numbers_of<TestType>(tenon::select(x, range(1, 2), 0, 0) * 1) == std::vector<double>{112});
  const auto& fixed = x;
  STATIC_REQUIRE(std::is_same_v<decltype(fixed(0, all_of, 2)), tenon::view<const float, shape<dyn>, TestType>>);
}

TEST_CASE("parts of a table that cannot be", "[select]") {
  const tenon::tensor<float, rank<2>> x(tenon::iota<float>(rank<2>(2, 3)));
  CHECK(tenon_test::text_of<tenon::index_error>([&] { x(tenon::all_of, 3); }) ==
        "slice: axis 1: position 3, expected within the extent 3");
  CHECK(tenon_test::text_of<tenon::index_error>([&] { x(-3, tenon::all_of); }) ==
        "slice: axis 0: position -3, expected within the extent 2");
  CHECK(tenon_test::text_of<tenon::index_error>([&] { x(0, tenon::range(4, 5)); }) ==
        "slice: axis 1: begin 4, expected within the extent 3");
}

TEST_CASE("gradients go to the place", "[select]") {
  CHECK(tenon_test::view_difference([](const auto& v) { return tenon::select(v, tenon::range(0, 3, 2), -1); }) == "");
  CHECK(tenon_test::view_difference([](const auto& v) { return tenon::select(v, axis<0>, -1); }) == "");
  CHECK(tenon_test::view_difference([](const auto& v) { return tenon::select(v, axis<1>, 2); }) == "");
}

TEST_CASE("positions outside the axis", "[select]") {
  const tenon::tensor<float, rank<2>> x(rank<2>(2, 3));
  CHECK(tenon_test::text_of<tenon::index_error>([&] { tenon::select(x, axis<1>, 3); }) ==
        "select: axis 1: position 3, expected within the extent 3 (operand [2, 3])");
  CHECK(tenon_test::text_of<tenon::index_error>([&] { tenon::select(x, axis<0>, -3); }) ==
        "select: axis 0: position -3, expected within the extent 2 (operand [2, 3])");
  const tenon::tensor<float, rank<1>> none(rank<1>(0));
  CHECK(tenon_test::text_of<tenon::index_error>([&] { tenon::select(none, axis<0>, 0); }) != "");
}
