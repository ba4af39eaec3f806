// tenon/base/float8.hpp: floating numbers of 8 bits, of the Open Compute Project's two formats.
// Storage as half and bfloat16 are: arithmetic happens in float, and a store rounds to nearest even and saturates.
// Floor 0: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tenon/base/config.hpp>
#include <tenon/base/device_conversion.hpp>
#include <type_traits>

namespace tenon {

/// 4 exponent and 3 mantissa bits: up to 448, no infinities, one NaN of either sign.
struct e4m3_format {
  static constexpr int mantissa_bits = 3, bias = 7;
  static constexpr std::uint8_t highest = 0x7e, infinity = 0x7f;  // what lies above it is NaN, and so is it
  static constexpr float greatest = 448;
  static constexpr bool has_infinity = false;
};
/// 5 exponent and 2 mantissa bits: up to 57344; infinities and NaN as IEEE formats have them.
struct e5m2_format {
  static constexpr int mantissa_bits = 2, bias = 15;
  static constexpr std::uint8_t highest = 0x7b, infinity = 0x7c;
  static constexpr float greatest = 57344;
  static constexpr bool has_infinity = true;
};

namespace detail {

template <class Format>
TENON_HOST_DEVICE constexpr float float_from_float8_bits(std::uint8_t bits) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  if (!__builtin_is_constant_evaluated()) return device_float_from_float8<Format::has_infinity>(bits);
#endif
  constexpr int mantissa_bits = Format::mantissa_bits;
  const std::uint32_t sign = (bits & 0x80u) << 24, magnitude = bits & 0x7fu;
  if (magnitude >= Format::infinity) {
    const bool is_infinite = Format::has_infinity && magnitude == Format::infinity;
    return __builtin_bit_cast(float, sign | (is_infinite ? 0x7f800000u : 0x7fc00000u));
  }
  const std::uint32_t exponent = magnitude >> mantissa_bits, mantissa = magnitude & ((1u << mantissa_bits) - 1u);
  if (exponent == 0) {  // zero or subnormal
    const std::uint32_t unit = static_cast<std::uint32_t>(127 + 1 - Format::bias - mantissa_bits) << 23;
    const float number = static_cast<float>(mantissa) * __builtin_bit_cast(float, unit);
    return sign != 0 ? -number : number;
  }
  return __builtin_bit_cast(float, sign | ((exponent + 127 - Format::bias) << 23) | (mantissa << (23 - mantissa_bits)));
}

/// What is beyond the highest number, infinity too, becomes that one; NaN stays NaN.
/// source    OCP 8-bit Floating Point Specification 1.0, conversion in saturating mode
template <class Format>
TENON_HOST_DEVICE constexpr std::uint8_t float8_bits_from_float(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  if (!__builtin_is_constant_evaluated()) return device_float8_bits<Format::has_infinity>(value);
#endif
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const auto sign = static_cast<std::uint8_t>((bits >> 24) & 0x80u);
  if (value != value) return 0x7f;
  if (value >= Format::greatest || value <= -Format::greatest) return static_cast<std::uint8_t>(sign | Format::highest);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  constexpr int least_exponent = 1 - Format::bias;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const int below = exponent < least_exponent ? least_exponent - exponent : 0;  // subnormals lose more bits
  const int dropped = 23 - Format::mantissa_bits + below;
  if (dropped > 24) return sign;  // less than half of the least number
  const std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u, kept = mantissa >> dropped;
  const std::uint32_t rest = mantissa & ((1u << dropped) - 1u), tie = 1u << (dropped - 1);
  const std::uint32_t rounded = kept + (rest > tie || (rest == tie && (kept & 1u) != 0) ? 1u : 0u);
  const int steps = below != 0 ? 0 : exponent - least_exponent;  // a carry moves to the next exponent by itself
  return static_cast<std::uint8_t>(sign | (rounded + (static_cast<std::uint32_t>(steps) << Format::mantissa_bits)));
}

}  // namespace detail

/// A number of 8 bits; from float it rounds to nearest even and saturates.
template <class Format>
struct float8 {
  using format = Format;
  std::uint8_t bits;

  float8() = default;
  TENON_HOST_DEVICE constexpr float8(float value) : bits(detail::float8_bits_from_float<Format>(value)) {}
  template <class Whole>
    requires std::is_integral_v<Whole>
  TENON_HOST_DEVICE constexpr explicit float8(Whole value) : float8(static_cast<float>(value)) {}
  template <class Expression>
    requires requires(const Expression& each) { each.operator float8(); }
  constexpr explicit float8(const Expression& each) : float8(each.operator float8()) {}  // it converts to float, too
  TENON_HOST_DEVICE constexpr operator float() const { return detail::float_from_float8_bits<Format>(bits); }
  TENON_HOST_DEVICE static constexpr float8 from_bits(std::uint8_t bits) {
    float8 result(0.0f);
    result.bits = bits;
    return result;
  }
};

using float8_e4m3 = float8<e4m3_format>;
using float8_e5m2 = float8<e5m2_format>;

/// Whether T is one of the floats of 8 bits.
template <class T>
inline constexpr bool is_float8 = false;
template <class Format>
inline constexpr bool is_float8<float8<Format>> = true;

}  // namespace tenon
