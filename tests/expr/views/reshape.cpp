// tests/expr/views/reshape.cpp: the same elements under other extents.
// Reshaping shares memory; what is not contiguous is refused with its strides.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/reshape.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon::shape;
using tenon_test::counting;
using tenon_test::has;
using tenon_test::numbers_of;
using tenon_test::text_of;

}  // namespace

TEMPLATE_LIST_TEST_CASE("elements keep their order", "[reshape]", tenon_test::spaces) {
  auto x = counting<float, TestType>(rank<2>(2, 6));
  const auto cube = tenon::reshape(x, shape<3, 2, 2>{});
  CHECK(cube.data() == x.data());
  CHECK(numbers_of(cube) == numbers_of(x));
  CHECK(cube.extent(0) == 3);
  cube = cube * 2;
  CHECK(numbers_of(x)[11] == 22);
  CHECK(numbers_of(tenon::reshape(tenon::slice(x, tenon::range(1, 2)), rank<1>(6)))[0] == 12);
  CHECK(tenon::reshape(counting<float, TestType>(rank<2>(0, 3)).view(), rank<1>(0)).size() == 0);
}

TEST_CASE("a constant tensor gives a view of constant elements", "[reshape]") {
  const auto x = counting<float>(rank<1>(4));
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::reshape(x, shape<2, 2>{})), tenon::view<const float, shape<2, 2>>>);
}

TEST_CASE("other counts and strided elements are refused", "[reshape]") {
  auto x = counting<float>(rank<2>(2, 6));
  const auto text = text_of<tenon::shape_error>([&] { tenon::reshape(x, rank<2>(5, 2)); });
  CHECK(has(text, "reshape: extents [5, 2] hold 10 elements, expected 12"));
  CHECK(has(text, "[2, 6]"));
  const auto strided = text_of<tenon::shape_error>([&] { tenon::reshape(tenon::transpose(x), rank<1>(12)); });
  CHECK(has(strided, "not contiguous"));
  CHECK(has(strided, "[1, 6]"));
}

TEMPLATE_LIST_TEST_CASE("a new axis stands where it was asked for", "[reshape]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(2, 3));
  CHECK(tenon::new_axis<0>(x).shape() == rank<3>(1, 2, 3));
  CHECK(tenon::new_axis<1>(x).shape() == rank<3>(2, 1, 3));
  CHECK(tenon::new_axis<2>(x).shape() == rank<3>(2, 3, 1));
  CHECK(tenon::new_axis<-1>(x).shape() == rank<3>(2, 3, 1));
  CHECK(tenon::new_axis<-3>(x * 1).shape() == rank<3>(1, 2, 3));
  const auto row = counting<float, TestType>(rank<1>(3));
  const auto outer = tenon::new_axis<1>(row) * row;  // every product
  CHECK(numbers_of(outer) == std::vector<double>{0, 0, 0, 0, 1, 2, 0, 2, 4});
}

TEST_CASE("a new axis has static extent 1", "[reshape]") {
  const tenon::tensor<float, shape<2, 3>> x;
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::new_axis<1>(x))::shape_type, shape<2, 1, 3>>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::new_axis<-1>(x + 1))::shape_type, shape<2, 3, 1>>);
}

TEMPLATE_LIST_TEST_CASE("an expression is renumbered", "[reshape]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<3>(4, 3, 35));
  const auto turned = tenon::reshape(tenon::transpose(x) + 0, rank<2>(20, 21));
  const auto expected = numbers_of(tenon::evaluated_tensor(tenon::transpose(x)));
  CHECK(numbers_of(turned) == expected);
  CHECK(numbers_of(tenon::reshape(turned, rank<1>(420))) == expected);
  CHECK(numbers_of(tenon::reshape(tenon::reshape(x * 1, rank<4>(2, 2, 15, 7)), rank<2>(1, 420))) == numbers_of(x));
  double total = 0;
  for (std::size_t i = 0; i < 21; ++i) total += expected[i];
  CHECK(numbers_of(tenon::sum(turned, axis<1>))[0] == total);
  CHECK(numbers_of(tenon::reshape(tenon::sum(x), rank<2>(1, 1))) == std::vector<double>{420 * 419 / 2});
  CHECK(tenon::reshape(x * 0, rank<3>(105, 2, 2)).shape() == rank<3>(105, 2, 2));
  CHECK(has(text_of<tenon::shape_error>([&] { tenon::reshape(x + 1, rank<1>(419)); }), "expected 420"));
}

TEST_CASE("a reshaped temporary lives as long as the expression", "[reshape]") {
  const auto later = [] { return tenon::reshape(counting<float>(rank<2>(2, 2)), rank<1>(4)); }();
  CHECK(numbers_of(later) == std::vector<double>{0, 1, 2, 3});
}

TEMPLATE_LIST_TEST_CASE("what a statement overwrites is read first by reshape", "[reshape]", tenon_test::spaces) {
  auto x = counting<float, TestType>(rank<2>(3, 7));
  x = tenon::reshape(tenon::transpose(x) * 1, rank<2>(3, 7));
  CHECK(numbers_of(x) == std::vector<double>{0, 7, 14, 1, 8, 15, 2, 9, 16, 3, 10, 17, 4, 11, 18, 5, 12, 19, 6, 13, 20});
}

TEMPLATE_LIST_TEST_CASE("space becomes depth by reshaping and permuting", "[reshape]", tenon_test::spaces) {
  const auto image = counting<float, TestType>(rank<2>(4, 6));
  const auto blocks = tenon::permute(tenon::reshape(image, rank<4>(2, 2, 3, 2)), axis<1, 3, 0, 2>);
  const auto depth = numbers_of(tenon::reshape(tenon::as_node(blocks), rank<3>(4, 2, 3)));
  std::size_t at = 0;
  for (int channel = 0; channel < 4; ++channel) {
    for (int y = 0; y < 2; ++y) {
      for (int x = 0; x < 3; ++x) CHECK(depth[at++] == (2 * y + channel / 2) * 6 + 2 * x + channel % 2);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("flatten joins axes", "[reshape]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(shape<2, 3, 4>{});
  STATIC_REQUIRE(std::is_same_v<typename decltype(tenon::flatten(x, axis<1, -1>))::shape_type, shape<2, 12>>);
  STATIC_REQUIRE(std::is_same_v<typename decltype(tenon::flatten(x, axis<0, 1>))::shape_type, shape<6, 4>>);
  STATIC_REQUIRE(std::is_same_v<typename decltype(tenon::flatten(x))::shape_type, shape<24>>);
  CHECK(numbers_of(tenon::flatten(x)) == numbers_of(x));
  CHECK(numbers_of(tenon::flatten(x * 2, axis<0, 1>) / 2) == numbers_of(x));
  CHECK(tenon::flatten(counting<float, TestType>(rank<3>(2, 5, 3)), axis<0, 1>).shape() == rank<2>(10, 3));
}

TEMPLATE_LIST_TEST_CASE("unflatten cuts an axis into blocks", "[reshape]", tenon_test::spaces) {
  auto x = counting<float, TestType>(rank<3>(2, 6, 3));
  const auto values = numbers_of(x);
  CHECK(numbers_of(tenon::unflatten(x, axis<1>, 2)) == values);
  CHECK(numbers_of(tenon::unflatten(x * 1, axis<-1>, 3)) == values);
  CHECK(tenon_test::extents_of(tenon::unflatten(x, axis<0>, 1)) == std::vector<tenon::index>{1, 2, 6, 3});
  STATIC_REQUIRE(
      std::is_same_v<typename decltype(tenon::unflatten(counting<float>(shape<4, 6>{}), axis<1>, 2))::shape_type,
                     shape<4, tenon::dyn, tenon::dyn>>);
  const auto strided = tenon::transpose(x);
  CHECK(numbers_of(tenon::unflatten(strided, axis<-1>, 3)) == numbers_of(strided));
  tenon::unflatten(x, axis<1>, 2) = 1.0f;
  CHECK(numbers_of(x) == std::vector<double>(36, 1.0));
  CHECK(text_of<tenon::shape_error>([&] { tenon::unflatten(x, axis<1>, 4); }) ==
        "unflatten: axis 1: extent 6, expected a multiple of 4 (operand [2, 6, 3])");
  CHECK_THROWS_AS(tenon::unflatten(x, axis<1>, 0), tenon::shape_error);
}

TEMPLATE_LIST_TEST_CASE("squeeze removes axes of extent 1", "[reshape]", tenon_test::spaces) {
  auto x = counting<float, TestType>(shape<1, 3, 1, 2>{});
  STATIC_REQUIRE(std::is_same_v<typename decltype(tenon::squeeze(x, axis<0, -2>))::shape_type, shape<3, 2>>);
  CHECK(numbers_of(tenon::transpose(tenon::squeeze(x * 1, axis<0, 2>))) == std::vector<double>{0, 2, 4, 1, 3, 5});
  tenon::squeeze(x, axis<0, 2>) = tenon::iota<float>(shape<3, 2>{}) + 1;
  CHECK(numbers_of(x) == std::vector<double>{1, 2, 3, 4, 5, 6});
  const auto totals = tenon::squeeze(tenon::sum(tenon::squeeze(x, axis<0, 2>), axis<1>), axis<1>);
  CHECK(totals.shape() == rank<1>(3));
  CHECK(numbers_of(totals) == std::vector<double>{3, 7, 11});
  const auto dynamic = counting<float, TestType>(rank<2>(2, 1));
  CHECK(text_of<tenon::shape_error>([&] { tenon::squeeze(dynamic, axis<0>); }) ==
        "squeeze: axis 0: extent 2, expected 1 (operand [2, 1])");
}

TEMPLATE_LIST_TEST_CASE("extents stand in braces, one of them to be found", "[reshape]", tenon_test::spaces) {
  auto x = tenon_test::counting<float, TestType>(rank<2>(4, 3));
  const auto flat = tenon::reshape(x, {2, -1});
  STATIC_REQUIRE(std::is_same_v<std::remove_const_t<decltype(flat)>, tenon::view<float, rank<2>, TestType>>);
  CHECK(flat.shape() == rank<2>(2, 6));
  CHECK(tenon::reshape(x + 1, {-1}).shape() == rank<1>(12));
  CHECK(tenon::reshape(x, {12, 1}).shape() == rank<2>(12, 1));
  CHECK(tenon::reshape(tenon::evaluated_tensor(x * 2), {6, -1}).shape() == rank<2>(6, 2));
}

TEST_CASE("extents in braces that do not fit", "[reshape]") {
  const auto x = tenon_test::counting<float>(rank<2>(4, 3));
  const auto none = tenon_test::counting<float>(rank<2>(0, 3));
  using tenon_test::text_of;
  CHECK(text_of<tenon::shape_error>([&] { tenon::reshape(x, {5, -1}); }) ==
        "reshape: extents [5, -1] of 12 elements, expected at most one -1, and a multiple of the other extents");
  CHECK(text_of<tenon::shape_error>([&] { tenon::reshape(x, {-1, -1}); }) != "");
  CHECK(text_of<tenon::shape_error>([&] { tenon::reshape(x, {-6, -1}); }) != "");
  CHECK(text_of<tenon::shape_error>([&] { tenon::reshape(none, {0, -1}); }) != "");
  CHECK(text_of<tenon::shape_error>([&] { tenon::reshape(x, {tenon::index{1} << 40, 1 << 30, -1}); }) != "");
  CHECK(text_of<tenon::shape_error>([&] { tenon::reshape(x, {5, 2}); }) ==
        "reshape: extents [5, 2] hold 10 elements, expected 12 (operand [4, 3])");
}
