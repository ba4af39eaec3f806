// tests/expr/pointwise.cpp: the one node of all pointwise operations.
// Broadcasting, element types and errors belong to the node, so they are tested here once for every operation.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/pointwise.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::cast;
using tenon::dtype_error;
using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon_test::counting;
using tenon_test::numbers_of;
using tenon_test::text_of;
using numbers = std::vector<double>;

/// x * 100 + y * 10 + z: an operation of the tests' own, written as a user would.
struct digits_op : tenon::promoting {
  static constexpr const char* name = "digits";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x, V y, V z) {
    return x * tenon::simd::constant_like<V>(100) + y * tenon::simd::constant_like<V>(10) + z;
  }
};
inline constexpr tenon::pointwise_function<digits_op> digits;

}  // namespace

TEMPLATE_LIST_TEST_CASE("operands broadcast together, aligned at the back", "[pointwise]", tenon_test::spaces) {
  const auto column = counting<float, TestType>(rank<2>(2, 1), 1);
  const auto row = counting<float, TestType>(rank<1>(3), 1);
  const auto all = digits(column, row, 9.0f);
  CHECK(all.shape() == rank<2>(2, 3));
  CHECK(numbers_of(all) == numbers{119, 129, 139, 219, 229, 239});
  CHECK(numbers_of(digits(row, row, column)).size() == 6);
  const auto whole = counting<float, TestType>(shape<2, 3>{});
  CHECK(numbers_of(whole + column) == numbers{1, 2, 3, 5, 6, 7});  // (3, 4) + (3, 1)
  CHECK(numbers_of(whole + row) == numbers{1, 3, 5, 4, 6, 8});     // (3, 4) + (4)
}

TEMPLATE_LIST_TEST_CASE("extents of zero broadcast and compute nothing", "[pointwise]", tenon_test::spaces) {
  const auto none = counting<float, TestType>(rank<2>(0, 3));
  const auto one = counting<float, TestType>(rank<2>(1, 1));
  CHECK((none + one).shape() == rank<2>(0, 3));
  CHECK(numbers_of(none + one).empty());
  CHECK_THROWS_AS(none + counting<float>(rank<2>(2, 3)).template to<TestType>(), tenon::shape_error);
}

TEST_CASE("static extents stay static", "[pointwise]") {
  const tenon::tensor<float, shape<2, 3>> a({2, 3}, {1, 2, 3, 4, 5, 6});
  const tenon::tensor<float, shape<dyn, 3>> b({2, 3});
  const tenon::tensor<float, shape<3>> c({3});
  STATIC_REQUIRE(std::is_same_v<decltype(a + b)::shape_type, shape<2, 3>>);
  STATIC_REQUIRE(std::is_same_v<decltype(b + c)::shape_type, shape<dyn, 3>>);
  STATIC_REQUIRE(std::is_same_v<decltype(c * 2)::shape_type, shape<3>>);
}

TEST_CASE("extents that differ are refused with operation, axis and both shapes", "[pointwise]") {
  const tenon::tensor<float, rank<2>> a({2, 3}), b({5, 7});
  const auto text = tenon_test::text_of<tenon::shape_error>([&] { a + b; });
  CHECK(text.find("add: axis ") == 0);
  CHECK(text.find("[2, 3]") != std::string::npos);
  CHECK(text.find("[5, 7]") != std::string::npos);
  const auto three = tenon_test::text_of<tenon::shape_error>([&] { digits(a, 1.0f, b); });
  CHECK(three.find("digits: axis ") == 0);
}

TEST_CASE("numbers do not widen tensors, tensors widen each other", "[pointwise]") {
  const tenon::tensor<tenon::half, rank<1>> h({1});
  const tenon::tensor<float, rank<1>> f({1});
  const tenon::tensor<std::int8_t, rank<1>> i({1});
  STATIC_REQUIRE(std::is_same_v<decltype(h * 0.5)::element, tenon::half>);
  STATIC_REQUIRE(std::is_same_v<decltype(0.5 * f)::element, float>);
  STATIC_REQUIRE(std::is_same_v<decltype(i + 1)::element, std::int8_t>);
  STATIC_REQUIRE(std::is_same_v<decltype(i * 0.5)::element, float>);
  STATIC_REQUIRE(std::is_same_v<decltype(h + f)::element, float>);
  STATIC_REQUIRE(std::is_same_v<decltype(digits(2.0, i, h))::element, tenon::half>);
}

TEST_CASE("a number that the integers beside it do not hold is refused", "[pointwise]") {
  tenon::tensor<std::uint8_t, rank<1>> bytes({2}, {254, 7});
  tenon::tensor<std::int8_t, rank<1>> small({2}, {-128, 7});
  const tenon::tensor<std::int32_t, rank<1>> whole({2}, {-1, 7});
  const tenon::tensor<std::uint64_t, rank<1>> wide({2}, {~std::uint64_t{0}, 7});
  CHECK(text_of<dtype_error>([&] { (void)(bytes == 300); }) ==
        "equal: number 300, expected 0 to 255 (elements of uint8)");
  CHECK(text_of<dtype_error>([&] { (void)(small + 128u); }) ==
        "add: number 128, expected -128 to 127 (elements of int8)");
  CHECK_THROWS_AS(tenon::where(bytes > 8, bytes, -1), dtype_error);
  CHECK_THROWS_AS(wide == -1, dtype_error);
  CHECK_THROWS_AS(4294967295u == whole, dtype_error);
  CHECK_THROWS_AS(whole != std::int64_t{1} << 32, dtype_error);
  CHECK_THROWS_AS(bytes << -1, dtype_error);
  CHECK_THROWS_AS(bytes | 256, dtype_error);
  CHECK_THROWS_AS(bytes -= 256, dtype_error);
  CHECK_THROWS_AS(bytes = 256, dtype_error);
  CHECK_THROWS_AS(bytes.view() = -1, dtype_error);
  CHECK(numbers_of(bytes) == numbers{254, 7});
  CHECK(numbers_of(bytes == 254u) == numbers{1, 0});
  CHECK(numbers_of(bytes & ~3) == numbers{252, 4});  // bits are those of -4
  CHECK(numbers_of((small & 0x80) != 0) == numbers{1, 0});
  CHECK(numbers_of(whole < std::size_t{7}) == numbers{1, 0});
  CHECK(numbers_of((bytes > 8) + 300) == numbers{301, 300});
  CHECK(numbers_of(cast<int>(bytes) < 300) == numbers{1, 1});
}

TEST_CASE("an expression without axes is a number", "[pointwise]") {
  const tenon::tensor<float, shape<>> a(shape<>{}, {3.0f});
  const float result = a * 2 + 1;
  CHECK(result == 7.0f);
}

TEST_CASE("a node is rebuilt on other operands", "[pointwise]") {
  const tenon::tensor<float, rank<1>> a({2}, {1, 2}), b({2}, {10, 20});
  const auto e = tenon::make_pointwise(digits_op{}, a, a, a);
  const auto other = e.with_operands(tenon::make_tuple_of(tenon::as_node(a), tenon::as_node(b), tenon::as_node(a)));
  CHECK(numbers_of(other) == numbers{201, 402});
}
