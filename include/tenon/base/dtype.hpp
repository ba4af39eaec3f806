// tenon/base/dtype.hpp: element types, their names, promotion and accumulators.
// half, bfloat16 and those of 8 bits are storage: arithmetic on them happens in float and is rounded once.
// Floor 0: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <tenon/base/config.hpp>
#include <tenon/base/device_conversion.hpp>
#include <tenon/base/float8.hpp>
#include <type_traits>

namespace tenon {

namespace detail {
TENON_HOST_DEVICE constexpr std::uint16_t half_bits_from_float(float value);
TENON_HOST_DEVICE constexpr float float_from_half_bits(std::uint16_t bits);
TENON_HOST_DEVICE constexpr std::uint16_t bfloat16_bits_from_float(float value);
TENON_HOST_DEVICE constexpr float float_from_bfloat16_bits(std::uint16_t bits);
}  // namespace detail

/// IEEE binary16: 1 sign, 5 exponent, 10 mantissa bits, up to 65504. Rounds to nearest even.
struct half {
  std::uint16_t bits;

  half() = default;
  TENON_HOST_DEVICE constexpr half(float value) : bits(detail::half_bits_from_float(value)) {}
  template <class Whole>
    requires std::is_integral_v<Whole>
  TENON_HOST_DEVICE constexpr explicit half(Whole value) : half(static_cast<float>(value)) {}
  template <class Expression>
    requires requires(const Expression& each) { each.operator half(); }
  constexpr explicit half(const Expression& each) : half(each.operator half()) {}  // it converts to float, too
  TENON_HOST_DEVICE constexpr operator float() const { return detail::float_from_half_bits(bits); }
  TENON_HOST_DEVICE static constexpr half from_bits(std::uint16_t bits) {
    half result(0.0f);
    result.bits = bits;
    return result;
  }
};

/// The upper half of a float: 1 sign, 8 exponent, 7 mantissa bits. Rounds to nearest even.
struct bfloat16 {
  std::uint16_t bits;

  bfloat16() = default;
  TENON_HOST_DEVICE constexpr bfloat16(float value) : bits(detail::bfloat16_bits_from_float(value)) {}
  template <class Whole>
    requires std::is_integral_v<Whole>
  TENON_HOST_DEVICE constexpr explicit bfloat16(Whole value) : bfloat16(static_cast<float>(value)) {}
  template <class Expression>
    requires requires(const Expression& each) { each.operator bfloat16(); }
  constexpr explicit bfloat16(const Expression& each)
      : bfloat16(each.operator bfloat16()) {}  // it converts to float, too
  TENON_HOST_DEVICE constexpr operator float() const { return detail::float_from_bfloat16_bits(bits); }
  TENON_HOST_DEVICE static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 result(0.0f);
    result.bits = bits;
    return result;
  }
};

template <class T>
inline constexpr bool is_short_float = std::is_same_v<T, half> || std::is_same_v<T, bfloat16> || is_float8<T>;
/// Made true for complex numbers by expr/operations/complex.hpp.
template <class T>
inline constexpr bool is_complex = false;
/// `is_host_only`: no device computes with T, as with complex; `is_floating`: with short and complex; `is_integer`.
template <class T>
inline constexpr bool is_host_only = false;
template <class T>
inline constexpr bool is_floating = std::is_floating_point_v<T> || is_short_float<T> || is_complex<T>;
template <class T>
inline constexpr bool is_integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

namespace detail {

struct not_widened {};
/// What a number of T converts to besides T: float, if T is short. A type of its own stands for nothing, as g++ takes
/// two conversions to one type for ambiguous even where one of them is ruled out.
template <class T>
using widened = std::conditional_t<is_short_float<T>, float, not_widened>;

}  // namespace detail

/// Element types that tensors hold.
template <class T>
concept dtype = std::is_arithmetic_v<T> || is_short_float<T> || is_complex<T>;  // tenon: elements are numbers

namespace detail {
template <class T, class Real>
struct complex_parts {
  using type = T;
};
template <template <class> class Complex, class T, class Real>
  requires is_complex<Complex<T>>
struct complex_parts<Complex<T>, Real> {
  using type = T;
  using with_other = Complex<Real>;
};
}  // namespace detail

/// The type of the parts of a complex number; for other types the type itself.
template <class T>
using real_type = typename detail::complex_parts<T, T>::type;

namespace detail {
template <class T>
struct integer_limits {  // values, not calls: the functions of numeric_limits are host-only under nvcc
  static constexpr T lowest = std::numeric_limits<T>::lowest(), highest = std::numeric_limits<T>::max();
};
}  // namespace detail

/// The first whole number above the range of an integer type, as a floating one, which holds it exactly.
template <class Whole, class Float>
inline constexpr Float first_above = [] {
  Float power = 1;
  for (int bit = 0; bit < std::numeric_limits<Whole>::digits; ++bit) power *= 2;
  return power;
}();

/// A floating number without its fraction as an integer: the nearest one of the type where it is beyond, 0 for NaN.
template <class Whole, class Float>
TENON_HOST_DEVICE constexpr Whole saturated_to(Float value) {
  constexpr Float above = first_above<Whole, Float>, lowest = std::is_signed_v<Whole> ? -above : Float(0);
  using limits = detail::integer_limits<Whole>;
  if (value != value) return 0;
  return value >= above ? limits::highest : value <= lowest ? limits::lowest : static_cast<Whole>(value);
}

/// A value as another element type; a real number becomes complex by way of its type of parts, a floating one beyond
/// the range of an integer type its nearest, NaN 0.
template <dtype To, dtype From>
TENON_HOST_DEVICE TENON_INLINE constexpr To converted_to(const From& value) {
  if constexpr (is_complex<To> && !is_complex<From>) {
    return To(static_cast<real_type<To>>(value));
  } else if constexpr (is_integer<To> && is_floating<From> && !is_complex<From>) {
    return saturated_to<To>(static_cast<std::conditional_t<is_short_float<From>, float, From>>(value));
  } else {
    return static_cast<To>(value);
  }
}

/// The name NumPy and PyTorch give an element type.
template <dtype T>
constexpr const char* dtype_name() {
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_same_v<T, half>) return "float16";
  if constexpr (std::is_same_v<T, bfloat16>) return "bfloat16";
  if constexpr (std::is_same_v<T, float8_e4m3>) return "float8_e4m3fn";
  if constexpr (std::is_same_v<T, float8_e5m2>) return "float8_e5m2";
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? "float32" : "float64";
  if constexpr (is_complex<T>) return sizeof(T) == 8 ? "complex64" : "complex128";
  if constexpr (std::is_integral_v<T>) {
    constexpr const char* names[2][4] = {{"int8", "int16", "int32", "int64"}, {"uint8", "uint16", "uint32", "uint64"}};
    return names[std::is_unsigned_v<T> ? 1 : 0][std::bit_width(sizeof(T)) - 1];
  }
}

namespace detail {

template <class T>
constexpr int dtype_category() {  // bool < integers < floating < complex, as in PyTorch
  return is_complex<T> ? 3 : is_floating<T> ? 2 : std::is_same_v<T, bool> ? 0 : 1;
}

template <std::size_t Bytes>
using signed_of_size =
    std::conditional_t<Bytes == 2, std::int16_t, std::conditional_t<Bytes == 4, std::int32_t, std::int64_t>>;

template <class Left, class Right>
constexpr auto promote_integers() {
  if constexpr (std::is_unsigned_v<Left> == std::is_unsigned_v<Right>) {
    return std::conditional_t<(sizeof(Left) >= sizeof(Right)), Left, Right>{};
  } else {
    using unsigned_side = std::conditional_t<std::is_unsigned_v<Left>, Left, Right>;
    using signed_side = std::conditional_t<std::is_unsigned_v<Left>, Right, Left>;
    if constexpr (sizeof(signed_side) > sizeof(unsigned_side)) {
      return signed_side{};
    } else {
      return signed_of_size<2 * sizeof(unsigned_side)>{};
    }
  }
}

template <class Left, class Right>
constexpr auto promote_floats() {
  if constexpr (std::is_same_v<Left, double> || std::is_same_v<Right, double>) {
    return double{};
  } else if constexpr (is_float8<Left> && is_float8<Right>) {
    return half{};  // which holds both
  } else if constexpr (is_float8<Left> || is_float8<Right>) {
    return std::conditional_t<is_float8<Left>, Right, Left>{};
  } else {
    return float{};  // also half with bfloat16
  }
}

/// The complex one of two types, with the wider parts of both; integers do not widen it.
template <class Left, class Right>
constexpr auto promote_complex() {
  if constexpr (is_complex<Left>) {
    using parts = decltype(promote_floats<real_type<Left>, real_type<Right>>());
    return std::type_identity<typename complex_parts<Left, parts>::with_other>{};
  } else {
    return promote_complex<Right, Left>();
  }
}

template <class Left, class Right>
constexpr auto promote_values() {
  constexpr int left = dtype_category<Left>(), right = dtype_category<Right>();
  if constexpr (left == 3 || right == 3) {
    return promote_complex<Left, Right>();
  } else if constexpr (std::is_same_v<Left, Right> || left > right) {
    return std::type_identity<Left>{};
  } else if constexpr (right > left) {
    return std::type_identity<Right>{};
  } else if constexpr (left == 1) {
    return std::type_identity<decltype(promote_integers<Left, Right>())>{};
  } else {
    return std::type_identity<decltype(promote_floats<Left, Right>())>{};
  }
}

}  // namespace detail

/// The element type of an operation on `Left` and `Right`: bool < integers < floating < complex; within integers the
/// smallest that holds both (signed with unsigned widens, at most to int64), within floating the wider (half with
/// bfloat16: float; two of 8 bits: half).
template <dtype Left, dtype Right>
using promote = typename decltype(detail::promote_values<Left, Right>())::type;

namespace detail {
template <class Element, class Scalar>
constexpr auto promote_weakly() {
  if constexpr (dtype_category<Scalar>() <= dtype_category<Element>()) {
    return std::type_identity<Element>{};
  } else if constexpr (is_complex<Scalar>) {
    using parts = decltype(promote_floats<Element, Element>());
    return std::type_identity<typename complex_parts<Scalar, parts>::with_other>{};
  } else if constexpr (dtype_category<Scalar>() == 2) {
    return std::type_identity<float>{};
  } else {
    return std::type_identity<int>{};
  }
}
}  // namespace detail

/// The element type of a tensor of `Element` with a C++ number: the number never widens within its category
/// (`half * 0.5` is half), it only raises the category (`int * 0.5` is float, `bool + 1` is int).
template <dtype Element, dtype Scalar>
using promote_scalar = typename decltype(detail::promote_weakly<Element, Scalar>())::type;

/// The type that an element is computed in: float for short floats, otherwise its own.
template <dtype T>
using compute_type = std::conditional_t<is_short_float<T>, float, T>;

/// The type in which sums of `T` are kept: float for short floats, 64 bits for integers and bool (as NumPy does).
template <dtype T>
using sum_type = std::conditional_t<
    is_floating<T>, compute_type<T>,
    std::conditional_t<std::is_unsigned_v<T> && !std::is_same_v<T, bool>, std::uint64_t, std::int64_t>>;

/// Lowest and highest values; infinities where the type has them, so that they are identities of max and min.
template <dtype T>
TENON_HOST_DEVICE constexpr T lowest_value() {
  if constexpr (is_float8<T>) {
    return T::from_bits(0x80u | (T::format::has_infinity ? T::format::infinity : T::format::highest));
  } else if constexpr (is_short_float<T>) {
    return T(lowest_value<float>());
  } else if constexpr (std::is_floating_point_v<T>) {
    return -static_cast<T>(__builtin_huge_val());
  } else {
    return detail::integer_limits<T>::lowest;
  }
}
/// The greatest value of T: infinity where T has one.
template <dtype T>
TENON_HOST_DEVICE constexpr T highest_value() {
  if constexpr (is_float8<T>) {
    return T::from_bits(lowest_value<T>().bits & 0x7fu);
  } else if constexpr (is_floating<T>) {
    return T(-static_cast<compute_type<T>>(lowest_value<T>()));
  } else {
    return detail::integer_limits<T>::highest;
  }
}

namespace detail {

template <class To, class From>
TENON_HOST_DEVICE constexpr To bits_as(From value) {  // std::bit_cast is host-only under nvcc
  return __builtin_bit_cast(To, value);
}

TENON_HOST_DEVICE constexpr std::uint16_t half_bits_from_float(float value) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) return device_half_bits(value);
#endif
  const auto bits = bits_as<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);   // NaN
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to infinity
  if (magnitude < 0x33000001u) return sign;                                         // rounds to zero
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const int dropped = exponent < -14 ? 13 + (-14 - exponent) : 13;  // subnormals lose more bits
  const std::uint32_t kept = mantissa >> dropped;
  const std::uint32_t rest = mantissa & ((1u << dropped) - 1u), tie = 1u << (dropped - 1);
  const std::uint32_t rounded = kept + (rest > tie || (rest == tie && (kept & 1u) != 0) ? 1u : 0u);
  const std::uint32_t biased = exponent < -14 ? rounded : rounded + (static_cast<std::uint32_t>(exponent + 14) << 10);
  return static_cast<std::uint16_t>(sign | biased);
}

TENON_HOST_DEVICE constexpr float float_from_half_bits(std::uint16_t bits) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) return device_float_from_half(bits);
#endif
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu, mantissa = bits & 0x3ffu;
  if (exponent == 31) return bits_as<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24
    const float magnitude = static_cast<float>(mantissa) * 5.9604644775390625e-8f;
    return sign != 0 ? -magnitude : magnitude;
  }
  return bits_as<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

TENON_HOST_DEVICE constexpr std::uint16_t bfloat16_bits_from_float(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if (!__builtin_is_constant_evaluated()) return device_bfloat16_bits(value);
#endif
  const auto bits = bits_as<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);  // quiet NaN
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

TENON_HOST_DEVICE constexpr float float_from_bfloat16_bits(std::uint16_t bits) {
  return bits_as<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace detail
}  // namespace tenon
