// tests/base/dtype.cpp: element types against an independent computation in double.
// Every bit pattern of the two 16-bit types is tried, and rounding is compared on and beside every tie.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/dtype.hpp>

#include <cmath>
#include <string>

#include "support/catch.hpp"

namespace {

using tenon::bfloat16;
using tenon::half;

static_assert(std::is_same_v<tenon::real_type<float>, float>);
static_assert(std::is_same_v<tenon::real_type<tenon::float8_e4m3>, tenon::float8_e4m3>);

template <class T>
struct format;  // mantissa bits, least normal exponent, greatest finite value
template <>
struct format<half> {
  static constexpr int mantissa = 10, least = -14;
  static constexpr double greatest = 65504.0;
};
template <>
struct format<bfloat16> {
  static constexpr int mantissa = 7, least = -126;
  static constexpr double greatest = 0x1.fep127;
};

/// `value` rounded to nearest even by the definition: a whole number of quanta of its binade.
template <class T>
double rounded(double value) {
  if (value == 0 || std::isnan(value) || std::isinf(value)) return value;
  const int exponent = std::max(std::ilogb(value), format<T>::least);
  const double quantum = std::ldexp(1.0, exponent - format<T>::mantissa);
  const double result = std::nearbyint(value / quantum) * quantum;  // the default mode is ties to even
  return std::fabs(result) > format<T>::greatest ? std::copysign(HUGE_VAL, value) : result;
}

template <class T>
bool rounds_right(float value) {
  const double actual = static_cast<double>(static_cast<float>(T(value))),
               expected = rounded<T>(static_cast<double>(value));
  if (std::isnan(expected)) return std::isnan(actual);
  return actual == expected && std::signbit(actual) == std::signbit(expected);
}

/// The value that a bit pattern means, from the definition of the format.
template <class T>
double meaning(unsigned bits) {
  constexpr int mantissa_bits = format<T>::mantissa, exponent_bits = 15 - mantissa_bits;
  const unsigned mantissa = bits & ((1u << mantissa_bits) - 1),
                 exponent = (bits >> mantissa_bits) & ((1u << exponent_bits) - 1);
  const double sign = (bits >> 15) != 0 ? -1.0 : 1.0;
  if (exponent == (1u << exponent_bits) - 1) return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
  const int scale = format<T>::least - mantissa_bits + (exponent == 0 ? 0 : static_cast<int>(exponent) - 1);
  return sign * std::ldexp(static_cast<double>(mantissa + (exponent == 0 ? 0 : 1u << mantissa_bits)), scale);
}

template <class Expected, class Actual>
constexpr bool same = std::is_same_v<Expected, Actual>;

template <class Left, class Right, class Result>
constexpr bool promotes = same<tenon::promote<Left, Right>, Result> && same<tenon::promote<Right, Left>, Result>;

}  // namespace

TEMPLATE_TEST_CASE("every bit pattern means what the format says and survives a round trip", "[dtype]", half,
                   bfloat16) {
  int wrong = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const TestType value = TestType::from_bits(static_cast<std::uint16_t>(bits));
    const float number = value;
    const double expected = meaning<TestType>(bits);
    if (std::isnan(expected)) {
      wrong += std::isnan(number) && std::isnan(static_cast<float>(TestType(number))) ? 0 : 1;
    } else {
      wrong += static_cast<double>(number) == expected && TestType(number).bits == bits ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("conversion rounds to nearest even at, below and above every tie", "[dtype]", half, bfloat16) {
  int wrong = 0;
  for (unsigned bits = 0; bits < 65535; ++bits) {
    const double low = meaning<TestType>(bits), high = meaning<TestType>(bits + 1);
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const auto tie = static_cast<float>((low + high) / 2);
    for (const float each : {tie, std::nextafter(tie, -HUGE_VALF), std::nextafter(tie, HUGE_VALF)}) {
      wrong += rounds_right<TestType>(each) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("special values convert", "[dtype]", half, bfloat16) {
  for (const float each : {0.0f, -0.0f, HUGE_VALF, -HUGE_VALF, 1e-45f, -1e-45f, 65519.0f, 65520.0f, 65536.0f, -1e9f,
                           3.4e38f, 0x1.fffffep127f, 1e-8f, 2.98e-8f, 5.97e-8f, 0x1p-25f, 0x1.000002p-25f}) {
    CAPTURE(each);
    CHECK(rounds_right<TestType>(each));
  }
  CHECK(std::isnan(static_cast<float>(TestType(std::nanf("")))));
  CHECK(std::isnan(static_cast<float>(TestType(-std::nanf("")))));
  const auto signalling = tenon::detail::bits_as<float>(std::uint32_t{0x7f800001u});  // its payload is all in lost bits
  CHECK(std::isnan(static_cast<float>(TestType(signalling))));
}

TEST_CASE("short floats are made of whole numbers", "[dtype]") {
  CHECK(static_cast<float>(static_cast<tenon::half>(-3)) == -3);
  CHECK(static_cast<float>(static_cast<tenon::bfloat16>(std::int64_t{1} << 40)) == 0x1p40f);
  CHECK(static_cast<float>(static_cast<tenon::float8_e4m3>(true)) == 1);
}

TEST_CASE("16-bit types are storage", "[dtype]") {
  STATIC_REQUIRE(sizeof(half) == 2);
  STATIC_REQUIRE(sizeof(bfloat16) == 2);
  STATIC_REQUIRE(std::is_trivial_v<half>);
  STATIC_REQUIRE(std::is_trivial_v<bfloat16>);
  STATIC_REQUIRE(half(1.0f).bits == 0x3c00);
  STATIC_REQUIRE(bfloat16(1.0f).bits == 0x3f80);
}

TEST_CASE("names are NumPy's", "[dtype]") {
  const auto named = [](const char* actual, const char* expected) { return std::string(actual) == expected; };
  CHECK(named(tenon::dtype_name<bool>(), "bool"));
  CHECK(named(tenon::dtype_name<half>(), "float16"));
  CHECK(named(tenon::dtype_name<bfloat16>(), "bfloat16"));
  CHECK(named(tenon::dtype_name<float>(), "float32"));
  CHECK(named(tenon::dtype_name<double>(), "float64"));
  CHECK(named(tenon::dtype_name<std::int8_t>(), "int8"));
  CHECK(named(tenon::dtype_name<std::int16_t>(), "int16"));
  CHECK(named(tenon::dtype_name<std::int32_t>(), "int32"));
  CHECK(named(tenon::dtype_name<std::int64_t>(), "int64"));
  CHECK(named(tenon::dtype_name<std::uint8_t>(), "uint8"));
  CHECK(named(tenon::dtype_name<std::uint16_t>(), "uint16"));
  CHECK(named(tenon::dtype_name<std::uint32_t>(), "uint32"));
  CHECK(named(tenon::dtype_name<std::uint64_t>(), "uint64"));
}

TEST_CASE("only numbers are element types", "[dtype]") {
  STATIC_REQUIRE(tenon::dtype<half>);
  STATIC_REQUIRE(tenon::dtype<bool>);
  STATIC_REQUIRE(!tenon::dtype<std::string>);
  STATIC_REQUIRE(!tenon::dtype<float*>);
  STATIC_REQUIRE(tenon::is_floating<half>);
  STATIC_REQUIRE(!tenon::is_floating<int>);
  STATIC_REQUIRE(tenon::is_integer<std::uint8_t>);
  STATIC_REQUIRE(!tenon::is_integer<bool>);
}

TEST_CASE("bool gives way to every type, integers to every floating type", "[dtype]") {
  STATIC_REQUIRE(promotes<bool, bool, bool>);
  STATIC_REQUIRE(promotes<bool, std::int8_t, std::int8_t>);
  STATIC_REQUIRE(promotes<bool, std::uint64_t, std::uint64_t>);
  STATIC_REQUIRE(promotes<bool, half, half>);
  STATIC_REQUIRE(promotes<std::int64_t, half, half>);
  STATIC_REQUIRE(promotes<std::uint8_t, bfloat16, bfloat16>);
  STATIC_REQUIRE(promotes<std::int64_t, float, float>);
  STATIC_REQUIRE(promotes<int, double, double>);
}

TEST_CASE("integers promote to what holds both, at most int64", "[dtype]") {
  using i8 = std::int8_t;
  using i16 = std::int16_t;
  using i32 = std::int32_t;
  using i64 = std::int64_t;
  using u8 = std::uint8_t;
  using u16 = std::uint16_t;
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  STATIC_REQUIRE((promotes<i8, i8, i8> && promotes<i8, i16, i16> && promotes<i8, i32, i32> && promotes<i8, i64, i64>));
  STATIC_REQUIRE((promotes<i16, i16, i16> && promotes<i16, i32, i32> && promotes<i16, i64, i64>));
  STATIC_REQUIRE((promotes<i32, i32, i32> && promotes<i32, i64, i64> && promotes<i64, i64, i64>));
  STATIC_REQUIRE((promotes<u8, u8, u8> && promotes<u8, u16, u16> && promotes<u8, u32, u32> && promotes<u8, u64, u64>));
  STATIC_REQUIRE((promotes<u16, u16, u16> && promotes<u16, u32, u32> && promotes<u16, u64, u64>));
  STATIC_REQUIRE((promotes<u32, u32, u32> && promotes<u32, u64, u64> && promotes<u64, u64, u64>));
  STATIC_REQUIRE((promotes<u8, i8, i16> && promotes<u8, i16, i16> && promotes<u8, i32, i32> && promotes<u8, i64, i64>));
  STATIC_REQUIRE(
      (promotes<u16, i8, i32> && promotes<u16, i16, i32> && promotes<u16, i32, i32> && promotes<u16, i64, i64>));
  STATIC_REQUIRE(
      (promotes<u32, i8, i64> && promotes<u32, i16, i64> && promotes<u32, i32, i64> && promotes<u32, i64, i64>));
  STATIC_REQUIRE(
      (promotes<u64, i8, i64> && promotes<u64, i16, i64> && promotes<u64, i32, i64> && promotes<u64, i64, i64>));
}

TEST_CASE("floating types promote to the wider, half with bfloat16 to float", "[dtype]") {
  STATIC_REQUIRE((promotes<half, half, half> && promotes<bfloat16, bfloat16, bfloat16>));
  STATIC_REQUIRE(promotes<half, bfloat16, float>);
  STATIC_REQUIRE((promotes<half, float, float> && promotes<half, double, double>));
  STATIC_REQUIRE((promotes<bfloat16, float, float> && promotes<bfloat16, double, double>));
  STATIC_REQUIRE(
      (promotes<float, float, float> && promotes<float, double, double> && promotes<double, double, double>));
}

TEST_CASE("a number raises the category of a tensor but never its width", "[dtype]") {
  STATIC_REQUIRE(same<tenon::promote_scalar<half, double>, half>);
  STATIC_REQUIRE(same<tenon::promote_scalar<float, double>, float>);
  STATIC_REQUIRE(same<tenon::promote_scalar<std::int8_t, int>, std::int8_t>);
  STATIC_REQUIRE(same<tenon::promote_scalar<int, double>, float>);
  STATIC_REQUIRE(same<tenon::promote_scalar<bool, int>, int>);
  STATIC_REQUIRE(same<tenon::promote_scalar<bool, double>, float>);
  STATIC_REQUIRE(same<tenon::promote_scalar<float, int>, float>);
}

TEST_CASE("each type has a type to compute and one to sum in", "[dtype]") {
  STATIC_REQUIRE((same<tenon::compute_type<half>, float> && same<tenon::compute_type<bfloat16>, float>));
  STATIC_REQUIRE((same<tenon::compute_type<double>, double> && same<tenon::compute_type<std::int8_t>, std::int8_t>));
  STATIC_REQUIRE((same<tenon::sum_type<half>, float> && same<tenon::sum_type<bfloat16>, float>));
  STATIC_REQUIRE((same<tenon::sum_type<float>, float> && same<tenon::sum_type<double>, double>));
  STATIC_REQUIRE((same<tenon::sum_type<std::int8_t>, std::int64_t> && same<tenon::sum_type<bool>, std::int64_t>));
  STATIC_REQUIRE(
      (same<tenon::sum_type<std::uint8_t>, std::uint64_t> && same<tenon::sum_type<std::uint64_t>, std::uint64_t>));
}

TEST_CASE("lowest and highest values are infinite where the type has infinities", "[dtype]") {
  CHECK(tenon::lowest_value<float>() == -HUGE_VALF);
  CHECK(tenon::highest_value<double>() == HUGE_VAL);
  CHECK(tenon::lowest_value<half>().bits == 0xfc00);
  CHECK(tenon::highest_value<half>().bits == 0x7c00);
  CHECK(tenon::lowest_value<bfloat16>().bits == 0xff80);
  CHECK(tenon::highest_value<bfloat16>().bits == 0x7f80);
  CHECK(tenon::lowest_value<std::int8_t>() == -128);
  CHECK(tenon::highest_value<std::uint16_t>() == 65535);
  CHECK(tenon::lowest_value<bool>() == false);
  CHECK(tenon::highest_value<std::int64_t>() == INT64_MAX);
}

TEST_CASE("floats beyond the range of an integer type become the nearest integer, NaN becomes 0", "[dtype]") {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  STATIC_REQUIRE(tenon::converted_to<std::int32_t>(nan) == 0);
  STATIC_REQUIRE(tenon::converted_to<std::int32_t>(2147483520.0f) == 2147483520);
  STATIC_REQUIRE(tenon::converted_to<std::int32_t>(2147483648.0f) == 2147483647);
  STATIC_REQUIRE(tenon::converted_to<std::int32_t>(-infinity) == -2147483647 - 1);
  STATIC_REQUIRE(tenon::converted_to<std::int64_t>(9223372036854775808.0) == INT64_MAX);
  STATIC_REQUIRE(tenon::converted_to<std::int64_t>(9223372036854774784.0) == 9223372036854774784);
  STATIC_REQUIRE(tenon::converted_to<std::uint64_t>(infinity) == UINT64_MAX);
  STATIC_REQUIRE(tenon::converted_to<std::uint8_t>(-0.5) == 0);
  STATIC_REQUIRE(tenon::converted_to<std::uint8_t>(-300.0) == 0);
  STATIC_REQUIRE(tenon::converted_to<std::uint8_t>(255.75) == 255);
  STATIC_REQUIRE(tenon::converted_to<std::int8_t>(-128.75) == -128);
  STATIC_REQUIRE(tenon::converted_to<std::int8_t>(-129.0) == -128);
  STATIC_REQUIRE(tenon::converted_to<std::int8_t>(tenon::half(1000.0f)) == 127);
  STATIC_REQUIRE(tenon::converted_to<std::int16_t>(tenon::bfloat16(-1e9f)) == -32768);
  STATIC_REQUIRE(tenon::converted_to<bool>(nan));
  STATIC_REQUIRE(tenon::converted_to<std::int8_t>(300) == 44);
}
