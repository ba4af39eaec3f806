// tests/contraction/host_arithmetic.cpp: how elements are multiplied.
// The type of the elements and the machine decide; a program counts as what it is before it is cast.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host_arithmetic.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"

namespace {

template <class Left, class Right>
using products_of = tenon::host_products<
    typename decltype(tenon::matmul(std::declval<const Left&>(), std::declval<const Right&>()))::element,
    decltype(tenon::left_matrix(tenon::matmul(std::declval<const Left&>(), std::declval<const Right&>()))),
    decltype(tenon::right_matrix(tenon::matmul(std::declval<const Left&>(), std::declval<const Right&>())))>;
template <class T>
using matrix = tenon::tensor<T, tenon::rank<2>>;
template <class T>
using wide = decltype(tenon::cast<int>(std::declval<const matrix<T>&>()));

}  // namespace

TEST_CASE("numbers are multiplied in what accumulates them", "[host]") {
  STATIC_REQUIRE(std::is_same_v<products_of<matrix<float>, matrix<float>>, tenon::number_products<float>>);
  STATIC_REQUIRE(std::is_same_v<products_of<matrix<double>, matrix<float>>, tenon::number_products<double>>);
  STATIC_REQUIRE(std::is_same_v<products_of<matrix<tenon::half>, matrix<tenon::half>>, tenon::number_products<float>>);
  STATIC_REQUIRE(std::is_same_v<products_of<matrix<int>, matrix<int>>, tenon::number_products<std::uint32_t>>);
  STATIC_REQUIRE(
      std::is_same_v<products_of<wide<std::uint8_t>, wide<std::uint8_t>>, tenon::number_products<std::uint32_t>>);
  using longs = products_of<matrix<std::int64_t>, matrix<std::int64_t>>;
  STATIC_REQUIRE(std::is_same_v<longs, tenon::number_products<std::uint64_t>>);
}

TEST_CASE("short numbers are multiplied together where the machine does that", "[host]") {
  using pairs = products_of<matrix<tenon::bfloat16>, matrix<tenon::bfloat16>>;
  STATIC_REQUIRE(pairs::group == (tenon::simd::has_bfloat16_dot ? 2 : 1));
  using computed = decltype(std::declval<const matrix<tenon::bfloat16>&>() * 2);
  STATIC_REQUIRE(products_of<computed, matrix<tenon::bfloat16>>::group == 1);  // its values are not rounded
  using bytes = products_of<wide<std::int8_t>, wide<std::int8_t>>;
  STATIC_REQUIRE(bytes::group == (tenon::simd::has_byte_dot ? 4 : 1));
  STATIC_REQUIRE(bytes::shifts_left == tenon::simd::has_byte_dot);
  using mixed = products_of<wide<std::uint8_t>, wide<std::int8_t>>;
  STATIC_REQUIRE(mixed::group == bytes::group);
  STATIC_REQUIRE(!mixed::shifts_left);
}
