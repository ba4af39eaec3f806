// tests/ptx/small_floats.hpp: floats of 8 and 16 bits, and tf32, as numbers of the host.
// One function rounds to every format; it is written from the formats' definitions, apart from Tenon's own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace tenon_test::ptx {

/// Bits of exponent and fraction. `has_infinity` is false of e4m3, whose largest exponent holds numbers too.
struct float_format {
  int exponent_bits, fraction_bits;
  bool has_infinity;
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr std::uint32_t all_exponent() const { return ((1u << exponent_bits) - 1) << fraction_bits; }
  constexpr std::uint32_t largest() const {
    return has_infinity ? all_exponent() - 1 : all_exponent() + (1u << fraction_bits) - 2;
  }
  constexpr std::uint32_t nan() const { return all_exponent() | ((1u << fraction_bits) - 1); }
};
inline constexpr float_format half_format{5, 10, true}, bfloat_format{8, 7, true}, tf32_format{8, 10, true},
    e4m3_format{4, 3, false}, e5m2_format{5, 2, true};

enum class rounding : std::uint8_t { nearest, nearest_away, zero, down, up };

/// A number that is a multiple of 1, rounded.
inline double rounded(double value, rounding how) {
  switch (how) {
    case rounding::nearest:
      return std::nearbyint(value);
    case rounding::nearest_away:
      return std::round(value);
    case rounding::zero:
      return std::trunc(value);
    case rounding::down:
      return std::floor(value);
    case rounding::up:
      return std::ceil(value);
  }
  return value;
}

/// The bits of `value` in a format. Where `saturates`, numbers out of range become the largest one.
inline std::uint32_t encode(double value, float_format to, rounding how = rounding::nearest, bool saturates = false) {
  const std::uint32_t sign = std::signbit(value) ? 1u << (to.exponent_bits + to.fraction_bits) : 0;
  if (std::isnan(value)) return to.nan();
  const double size = std::fabs(value);
  const std::uint32_t beyond = saturates ? to.largest() : to.has_infinity ? to.all_exponent() : to.nan();
  if (std::isinf(size)) return sign | beyond;
  if (size == 0) return sign;
  int exponent = std::ilogb(size);
  exponent = exponent < 1 - to.bias() ? 1 - to.bias() : exponent;
  const double signed_count = rounded(std::ldexp(value, to.fraction_bits - exponent), how);
  const auto count = static_cast<std::uint32_t>(std::fabs(signed_count));
  // A count that reaches the next power of two carries into the exponent, as the bits follow each other.
  const std::uint32_t bits = static_cast<std::uint32_t>((exponent + to.bias() - 1) << to.fraction_bits) + count;
  const bool is_beyond = bits > to.largest();
  const bool is_cut = is_beyond && (how == rounding::zero || (how == rounding::down && sign == 0) ||
                                    (how == rounding::up && sign != 0));
  return sign | (is_cut ? to.largest() : is_beyond ? beyond : bits);
}

inline float decode(std::uint32_t bits, float_format from) {
  const std::uint32_t size = bits & ((1u << (from.exponent_bits + from.fraction_bits)) - 1);
  const bool is_negative = (bits >> (from.exponent_bits + from.fraction_bits) & 1) != 0;
  if (size > from.largest()) {
    const bool is_infinite = from.has_infinity && size == from.all_exponent();
    if (!is_infinite) return std::bit_cast<float>(0x7fffffffu);
    return is_negative ? -INFINITY : INFINITY;
  }
  const int exponent = static_cast<int>(size >> from.fraction_bits);
  const std::uint32_t fraction = size & ((1u << from.fraction_bits) - 1);
  const std::uint32_t whole = exponent == 0 ? fraction : fraction + (1u << from.fraction_bits);
  const int scale = (exponent == 0 ? 1 : exponent) - from.bias() - from.fraction_bits;
  const float value = std::ldexp(static_cast<float>(whole), scale);
  return is_negative ? -value : value;
}

/// Half to float, fast: the exponent is moved, and scaled where it is that of a small number.
inline float half_to_float(std::uint16_t bits) {
  const std::uint32_t size = bits & 0x7fffu, sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const float scaled = std::bit_cast<float>(size << 13) * 0x1p112f;
  const std::uint32_t special = size > 0x7c00 ? 0x7fffffffu : 0x7f800000u;
  return std::bit_cast<float>(size >= 0x7c00 ? special | (size > 0x7c00 ? 0 : sign)
                                             : std::bit_cast<std::uint32_t>(scaled) | sign);
}

/// Float to half, to the nearest, fast.
inline std::uint16_t float_to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value), size = bits & 0x7fffffffu;
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const std::uint32_t tie = (size >> 13 & 1) + 0xfffu;
  const std::uint32_t normal = (size + tie - (112u << 23)) >> 13;
  const float shifted = std::bit_cast<float>(size) + 0.5f;  // the sum's last bit is the smallest half
  const std::uint32_t small = std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u;
  const std::uint32_t large = size > 0x7f800000u ? 0x7fffu : 0x7c00u;
  const std::uint32_t result = size < (113u << 23) ? small : size >= 0x477ff000u ? large : normal;
  return static_cast<std::uint16_t>(result == 0x7fffu ? result : result | sign);
}

inline float bfloat_to_float(std::uint16_t bits) {
  const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  return value == value ? value : std::bit_cast<float>(0x7fffffffu);
}

inline std::uint16_t float_to_bfloat(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

}  // namespace tenon_test::ptx
