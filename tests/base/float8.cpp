// tests/base/float8.cpp: floating numbers of 8 bits against an independent computation in double.
// All 256 values of both formats; rounding on and beside every tie, and of numbers of every exponent; statements.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/float8.hpp>
#include <tenon/tenon.hpp>

#include <cmath>
#include <string>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::float8_e4m3;
using tenon::float8_e5m2;
using tenon::rank;

template <class T>
struct format;  // mantissa bits, least normal exponent, greatest finite value
template <>
struct format<float8_e4m3> {
  static constexpr int mantissa = 3, least = -6;
  static constexpr double greatest = 448;
};
template <>
struct format<float8_e5m2> {
  static constexpr int mantissa = 2, least = -14;
  static constexpr double greatest = 57344;
};

/// The value that a bit pattern means, from the tables of the specification.
template <class T>
double meaning_of_byte(unsigned bits) {
  constexpr int mantissa_bits = format<T>::mantissa;
  const unsigned magnitude = bits & 0x7f, mantissa = magnitude & ((1u << mantissa_bits) - 1),
                 exponent = magnitude >> mantissa_bits;
  const double sign = bits >= 0x80 ? -1.0 : 1.0;
  if (std::is_same_v<T, float8_e4m3> && magnitude == 0x7f) return std::nan("");
  if (std::is_same_v<T, float8_e5m2> && exponent == 31) return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
  const int scale = format<T>::least - mantissa_bits + (exponent == 0 ? 0 : static_cast<int>(exponent) - 1);
  return sign * std::ldexp(static_cast<double>(mantissa + (exponent == 0 ? 0 : 1u << mantissa_bits)), scale);
}

/// `value` rounded to nearest even by the definition, a whole number of quanta of its binade, and saturated.
template <class T>
double saturated(double value) {
  if (value == 0 || std::isnan(value)) return value;
  if (std::isinf(value)) return std::copysign(format<T>::greatest, value);
  const int exponent = std::max(std::ilogb(value), format<T>::least);
  const double quantum = std::ldexp(1.0, exponent - format<T>::mantissa);
  const double result = std::nearbyint(value / quantum) * quantum;  // the default mode is ties to even
  return std::fabs(result) > format<T>::greatest ? std::copysign(format<T>::greatest, value) : result;
}

bool is_same(double actual, double expected) {
  if (std::isnan(expected)) return std::isnan(actual);
  return actual == expected && std::signbit(actual) == std::signbit(expected);
}
template <class T>
bool saturates_right(float value) {
  return is_same(static_cast<float>(T(value)), saturated<T>(static_cast<double>(value)));
}

}  // namespace

TEMPLATE_TEST_CASE("all values of 8 bits, there and back", "[float8]", float8_e4m3, float8_e5m2) {
  for (unsigned bits = 0; bits < 256; ++bits) {
    const auto number = TestType::from_bits(static_cast<std::uint8_t>(bits));
    const double expected = meaning_of_byte<TestType>(bits);
    CHECK(is_same(static_cast<float>(number), expected));
    if (std::isfinite(expected)) CHECK(TestType(static_cast<float>(number)).bits == bits);
    if (std::isnan(expected)) CHECK(TestType(static_cast<float>(number)).bits == 0x7f);
  }
  static_assert(sizeof(TestType) == 1 && tenon::is_float8<TestType> && tenon::is_short_float<TestType>);
}

TEMPLATE_TEST_CASE("rounding to 8 bits is to nearest even, and saturates", "[float8]", float8_e4m3, float8_e5m2) {
  for (unsigned bits = 0; bits < 0x7e; ++bits) {
    const double low = meaning_of_byte<TestType>(bits), high = meaning_of_byte<TestType>(bits + 1);
    if (!std::isfinite(high)) continue;
    const auto tie = static_cast<float>((low + high) / 2);
    for (const float value : {tie, std::nextafter(tie, 0.0f), std::nextafter(tie, HUGE_VALF)}) {
      CHECK(saturates_right<TestType>(value));
      CHECK(saturates_right<TestType>(-value));
    }
  }
  int wrong = 0;
  for (std::uint32_t high = 0; high < 0x10000; ++high) {
    for (const std::uint32_t low : {0u, 1u, 0x8000u, 0xffffu}) {
      wrong += saturates_right<TestType>(__builtin_bit_cast(float, high << 16 | low)) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
  static_assert(TestType(1e30f).bits == TestType::format::highest && TestType(-0.0f).bits == 0x80);
}

TEST_CASE("names, promotion and limits of 8 bits", "[float8]") {
  CHECK(tenon::dtype_name<float8_e4m3>() == std::string("float8_e4m3fn"));
  CHECK(tenon::dtype_name<float8_e5m2>() == std::string("float8_e5m2"));
  static_assert(std::is_same_v<tenon::promote<float8_e4m3, float8_e5m2>, tenon::half>);
  static_assert(std::is_same_v<tenon::promote<float8_e4m3, float8_e4m3>, float8_e4m3>);
  static_assert(std::is_same_v<tenon::promote<tenon::bfloat16, float8_e5m2>, tenon::bfloat16>);
  static_assert(std::is_same_v<tenon::promote<float8_e5m2, int>, float8_e5m2>);
  static_assert(std::is_same_v<tenon::promote_scalar<float8_e4m3, double>, float8_e4m3>);
  static_assert(std::is_same_v<tenon::sum_type<float8_e4m3>, float>);
  CHECK(static_cast<float>(tenon::lowest_value<float8_e4m3>()) == -448);
  CHECK(static_cast<float>(tenon::highest_value<float8_e4m3>()) == 448);
  CHECK(static_cast<float>(tenon::lowest_value<float8_e5m2>()) == -HUGE_VALF);
  CHECK(tenon::converted_to<int>(float8_e4m3(-3.0f)) == -3);
}

TEMPLATE_LIST_TEST_CASE("statements on elements of 8 bits", "[float8]", tenon_test::spaces) {
  const auto check = []<class T>(std::type_identity<T>) {
    tenon::tensor<T, rank<1>> all(rank<1>(256));
    for (int bits = 0; bits < 256; ++bits) all.data()[bits] = T::from_bits(static_cast<std::uint8_t>(bits));
    const auto x = all.template to<TestType>();
    const auto wide = tenon_test::numbers_of(tenon::cast<float>(x));
    const auto back = tenon::evaluated_tensor(tenon::cast<T>(tenon::cast<float>(x))).template to<tenon::host>();
    const auto scaled = tenon::evaluated_tensor(x * 3 + 0.125f).template to<tenon::host>();
    for (unsigned bits = 0; bits < 256; ++bits) {
      const double number = meaning_of_byte<T>(bits);
      CHECK(is_same(wide[bits], number));
      CHECK(is_same(static_cast<float>(back.data()[bits]), saturated<T>(number)));
      CHECK(is_same(static_cast<float>(scaled.data()[bits]), saturated<T>(number * 3 + 0.125)));
    }
  };
  check(std::type_identity<float8_e4m3>{});
  check(std::type_identity<float8_e5m2>{});
}

TEMPLATE_LIST_TEST_CASE("products of elements of 8 bits add up in float", "[float8]", tenon_test::spaces) {
  const auto check = []<class Left, class Right>(std::type_identity<Left>, std::type_identity<Right>) {
    const auto a = tenon::evaluated_tensor(tenon::cast<Left>(tenon::uniform<float>(rank<2>(20, 50), 1, -2.0f, 2.0f)));
    const auto b = tenon::evaluated_tensor(tenon::cast<Right>(tenon::uniform<float>(rank<2>(50, 18), 2, -2.0f, 2.0f)));
    const auto x = a.template to<TestType>();
    const auto y = b.template to<TestType>();
    tenon::tensor<float, rank<2>, TestType> products(rank<2>(20, 18));
    products = tenon::matmul(x, y);
    const auto found = tenon_test::numbers_of(products), left = tenon_test::numbers_of(a),
               right = tenon_test::numbers_of(b);
    for (std::size_t i = 0; i < 20; ++i) {
      for (std::size_t j = 0; j < 18; ++j) {
        double expected = 0;
        for (std::size_t k = 0; k < 50; ++k) expected += left[i * 50 + k] * right[k * 18 + j];
        CHECK(std::fabs(found[i * 18 + j] - expected) < 1e-4);
      }
    }
  };
  check(std::type_identity<float8_e4m3>{}, std::type_identity<float8_e4m3>{});
  check(std::type_identity<float8_e5m2>{}, std::type_identity<float8_e5m2>{});
  check(std::type_identity<float8_e4m3>{}, std::type_identity<float8_e5m2>{});
}
