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

namespace {

/// Floating values inside, at the ends of and beyond the range of T.
template <class T, class From>
std::vector<From> values_around_range() {
  const From low = static_cast<From>(std::numeric_limits<T>::min()),
             above = std::ldexp(From(1), std::numeric_limits<T>::digits);
  const From infinity = std::numeric_limits<From>::infinity(), nan = std::numeric_limits<From>::quiet_NaN();
  return {nan,
          0,
          -0.0,
          From(0.99),
          From(-0.99),
          17,
          -17,
          low,
          low - 1,
          low * 2,
          std::nextafter(low, -infinity),
          std::nextafter(low, infinity),
          above,
          std::nextafter(above, From(0)),
          above - 1,
          above * 2,
          From(1e30),
          From(-1e30),
          infinity,
          -infinity,
          -nan,
          63.5};
}

/// What a value becomes: by comparison with the range in long double, which holds all integers.
template <class T>
T nearest_in_range(long double value) {
  if (std::isnan(value)) return 0;
  const long double whole = std::trunc(value);
  if (whole <= static_cast<long double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (whole >= static_cast<long double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(whole);
}

template <class T, class From, class Space>
void check_saturation() {
  INFO(tenon::dtype_name<From>() << " to " << tenon::dtype_name<T>());
  const auto values = values_around_range<T, From>();
  const auto count = static_cast<tenon::index>(values.size());
  const tenon::rank<2> extents(3, count);  // rows that begin anywhere in a pack
  tenon::tensor<From, tenon::rank<1>> on_host({count});
  std::copy(values.begin(), values.end(), on_host.data());
  const tenon::tensor<From, tenon::rank<1>, Space> x = on_host.template to<Space>();
  tenon::tensor<T, tenon::rank<2>, Space> by_cast(extents), by_assignment(extents);
  by_cast = tenon::cast<T>(x + From(0));
  by_assignment = x;
  const auto cast_values = by_cast.template to<tenon::host>(),
             assigned_values = by_assignment.template to<tenon::host>();
  int wrong = 0;
  for (tenon::index row = 0; row < 3; ++row) {
    for (tenon::index i = 0; i < count; ++i) {
      const T expected = nearest_in_range<T>(values[static_cast<std::size_t>(i)]);
      wrong += cast_values(row, i) == expected && assigned_values(row, i) == expected ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("floats beyond the range of integers become the nearest one, NaN becomes 0", "[where_cast]",
                        tenon_test::spaces) {
  const auto check_types = []<class... T>(std::tuple<T...>) {
    (check_saturation<T, float, TestType>(), ...);
    (check_saturation<T, double, TestType>(), ...);
  };
  check_types(std::tuple<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                         std::int64_t, std::uint64_t>{});
  using space = TestType;
  CHECK(cast_of<half, std::int8_t, space>({300, -300, nan_value, 5.5}) == numbers{127, -128, 0, 5});
  CHECK(cast_of<tenon::bfloat16, std::uint8_t, space>({300, -300, nan_value, 5.5}) == numbers{255, 0, 0, 5});
  tenon::tensor<std::int32_t, tenon::rank<1>, space> number({2});
  number = 1e10;
  CHECK(numbers_of(number) == numbers(2, 2147483647.0));
  tenon::evaluate(tenon::assign(number, tenon::constants(tenon::rank<1>(2), -1e10f)));
  CHECK(numbers_of(number) == numbers(2, -2147483648.0));
}

TEMPLATE_LIST_TEST_CASE("integers wrap, floats overflow to infinity", "[where_cast]", tenon_test::spaces) {
  using space = TestType;
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(cast_of<std::int32_t, std::int8_t, space>({128, -129, 256, 511, -1}) == numbers{-128, 127, 0, -1, -1});
  CHECK(cast_of<std::int64_t, std::uint16_t, space>({-1, 65536, 70000}) == numbers{65535, 0, 4464});
  CHECK(cast_of<std::uint32_t, std::int32_t, space>({4294967295.0}) == numbers{-1});
  CHECK(cast_of<double, float, space>({1e300, -1e300, 1e-300}) == numbers{infinity, -infinity, 0});
  CHECK(cast_of<float, half, space>({65520, -65520, 1e30, 65519}) == numbers{infinity, -infinity, infinity, 65504});
  CHECK(cast_of<float, tenon::bfloat16, space>({3.4e38, -3.4e38}) == numbers{infinity, -infinity});
  CHECK(cast_of<std::int32_t, half, space>({65520, -65520, 65503}) == numbers{infinity, -infinity, 65504});
  CHECK(cast_of<std::int32_t, bool, space>({256, 0, -1}) == numbers{1, 0, 1});
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

TEST_CASE("a cast to the type that is there is no operation, but of short floats, which it rounds", "[where_cast]") {
  using kept = tenon::tensor<float, tenon::rank<1>>;
  using rounded = tenon::tensor<half, tenon::rank<1>>;
  static_assert(
      std::is_same_v<tenon::node_of<decltype(tenon::cast<float>(std::declval<kept&>()))>::kind, tenon::leaf_kind>);
  static_assert(std::is_same_v<tenon::node_of<decltype(tenon::cast<half>(std::declval<rounded&>()))>::kind,
                               tenon::pointwise_kind>);
  const auto own = tenon::cast<float>(kept{1, 2, 3});  // a tensor that has no other owner
  CHECK(numbers_of(own) == numbers{1, 2, 3});
}
