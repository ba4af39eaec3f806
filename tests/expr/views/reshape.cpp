// tests/expr/views/reshape.cpp: the same elements under other extents.
// Reshaping shares memory; what is not contiguous is refused with its strides.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/reshape.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

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
