// tests/expr/operations/where_cast.cpp: a table of the family.
// Selection by masks of any type, and conversion between all element types.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/where_cast.hpp>

#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::half;
using tenon_test::counting;
using tenon_test::nan_value;
using tenon_test::numbers_of;
using tenon_test::repeated;
using numbers = std::vector<double>;

/// `values` as `From`, cast to `To`, at a length with a rest.
template <class From, class To, class Space>
numbers cast_of(const numbers& values) {
  const auto n = static_cast<tenon::index>(values.size());
  auto result = numbers_of(tenon::cast<To>(repeated<From, Space>(values, 11 * n)));
  for (std::size_t i = values.size(); i < result.size(); ++i) {
    if (result[i] != result[i % values.size()]) return {-9999};
  }
  result.resize(values.size());
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("where picks by the condition", "[where_cast]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(tenon::rank<1>(37), -18);
  const auto picked = numbers_of(tenon::where(x > 0, x, x * 10));
  for (int i = 0; i < 37; ++i) CHECK(picked[static_cast<std::size_t>(i)] == (i > 18 ? i - 18 : (i - 18) * 10));
  CHECK(numbers_of(tenon::where(x, 1.0f, 2.0f))[18] == 2);
  const auto mask = tenon_test::tensor_of<TestType, std::int8_t>(tenon::rank<1>(3), {0, -1, 2});
  CHECK(numbers_of(tenon::where(mask, 5, 7)) == numbers{7, 5, 5});
}

TEMPLATE_LIST_TEST_CASE("what is not picked does not matter", "[where_cast]", tenon_test::spaces) {
  const auto x = repeated<float, TestType>({-1, 0, 4}, 9);
  CHECK(numbers_of(tenon::where(x > 0, tenon::sqrt(x), -1.0f)) == numbers{-1, -1, 2, -1, -1, 2, -1, -1, 2});
  const auto y = repeated<double, TestType>({nan_value, 1}, 6);
  CHECK(numbers_of(tenon::where(y == y, y, 0.0)) == numbers{0, 1, 0, 1, 0, 1});
}

TEMPLATE_LIST_TEST_CASE("where broadcasts all three operands", "[where_cast]", tenon_test::spaces) {
  const auto column = tenon_test::tensor_of<TestType, bool>(tenon::rank<2>(2, 1), {true, false});
  const auto row = counting<double, TestType>(tenon::rank<1>(3));
  CHECK(numbers_of(tenon::where(column, row, -1)) == numbers{0, 1, 2, -1, -1, -1});
}

TEST_CASE("where promotes its values, not the condition", "[where_cast]") {
  const auto x = counting<half>(tenon::rank<1>(2));
  const auto d = counting<double>(tenon::rank<1>(2));
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::where(d > 1, x, 0.5))::element, half>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::where(d, x, x))::element, half>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::where(x > 1, x, d))::element, double>);
}

TEMPLATE_LIST_TEST_CASE("conversions between element types", "[where_cast]", tenon_test::spaces) {
  using space = TestType;
  const numbers mixed = {0, 1.75, -1.75, 100.5};
  CHECK(cast_of<float, std::int32_t, space>(mixed) == numbers{0, 1, -1, 100});
  CHECK(cast_of<double, std::int8_t, space>(mixed) == numbers{0, 1, -1, 100});
  CHECK(cast_of<float, std::int64_t, space>({-4294967296.0, 5}) == numbers{-4294967296.0, 5});
  CHECK(cast_of<float, half, space>({1, 2049, 65504}) == numbers{1, 2048, 65504});
  CHECK(cast_of<float, tenon::bfloat16, space>({257, 259}) == numbers{256, 260});
  CHECK(cast_of<double, float, space>({0.1}) == numbers{static_cast<double>(0.1f)});
  CHECK(cast_of<half, double, space>({0.5, -2}) == numbers{0.5, -2});
  CHECK(cast_of<float, bool, space>({0, 0.25, -1, nan_value}) == numbers{0, 1, 1, 1});
  CHECK(cast_of<bool, float, space>({0, 1}) == numbers{0, 1});
  CHECK(cast_of<bool, std::int8_t, space>({0, 1}) == numbers{0, 1});
  CHECK(cast_of<std::int64_t, double, space>({1LL << 40}) == numbers{1LL << 40});
  CHECK(cast_of<std::uint8_t, std::int32_t, space>({255, 0}) == numbers{255, 0});
  CHECK(cast_of<std::int8_t, float, space>({-128, 127}) == numbers{-128, 127});
}

TEMPLATE_LIST_TEST_CASE("assignment converts as cast does", "[where_cast]", tenon_test::spaces) {
  const auto x = repeated<float, TestType>({1.75, -2.5}, 9);
  tenon::tensor<std::int32_t, tenon::rank<1>, TestType> whole({9});
  whole = x;
  CHECK(numbers_of(whole) == numbers{1, -2, 1, -2, 1, -2, 1, -2, 1});
  tenon::tensor<bool, tenon::rank<1>, TestType> truth({9});
  truth = x - 1.75f;
  CHECK(numbers_of(truth) == numbers{0, 1, 0, 1, 0, 1, 0, 1, 0});
}

TEMPLATE_LIST_TEST_CASE("a cast to half rounds within a statement too", "[where_cast]", tenon_test::spaces) {
  const auto x = repeated<double, TestType>({2049, 0.1, 1e6, -3}, 9);
  const auto rounded = numbers_of(tenon::cast<double>(tenon::cast<half>(x)));
  const auto coarse = numbers_of(tenon::cast<double>(tenon::cast<tenon::bfloat16>(x)));
  for (std::size_t i = 0; i < rounded.size(); ++i) {
    const float value = static_cast<float>(numbers{2049, 0.1, 1e6, -3}[i % 4]);
    CHECK(rounded[i] == static_cast<double>(static_cast<float>(half(value))));
    CHECK(coarse[i] == static_cast<double>(static_cast<float>(tenon::bfloat16(value))));
  }
}
