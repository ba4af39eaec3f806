// tenon/base/block_format.hpp: weights in blocks of 32: small integers and the scale that they share.
// The bytes are those of GGUF's Q8_0 and Q4_0; a value is scale * integer, which a float holds exactly.
// Floor 0: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/base/array.hpp>
#include <tenon/base/dtype.hpp>

namespace tenon {

namespace detail {

/// 1 / scale, or 0 where there is none that a float holds.
inline float inverse_of_scale(float scale) {
  return std::fabs(scale) < std::numeric_limits<float>::min() ? 0.0f : 1.0f / scale;
}
/// x * y, rounded to float before anything is added to it.
inline float rounded_product(float x, float y) {
  return static_cast<float>(static_cast<double>(x) * static_cast<double>(y));
}
inline void write_half(float number, std::uint8_t* to) {
  const std::uint16_t bits = half(number).bits;
  to[0] = static_cast<std::uint8_t>(bits & 0xff), to[1] = static_cast<std::uint8_t>(bits >> 8);
}

}  // namespace detail

/// 32 weights in 34 bytes: a scale of 16 bits, then a signed byte for each.
/// accuracy  half a step, of which 127 are the greatest magnitude of a block
/// source    GGUF, type Q8_0
struct q8_0 {
  static constexpr const char* name = "q8_0";
  static constexpr index values = 32, bytes = 34;
  static constexpr int steps = 127;  // of the greatest magnitude

  /// The integer of weight `place`; `byte(i)` is byte i of the block.
  template <class Byte>
  TENON_HOST_DEVICE static constexpr int whole(index place, const Byte& byte) {
    return static_cast<std::int8_t>(byte(2 + place));
  }
  /// Writes the block of 32 finite numbers. Their scale must be one of 16 bits.
  static void encode(const float* from, std::uint8_t* to) {
    float greatest = 0;
    for (index i = 0; i < values; ++i) greatest = std::fabs(from[i]) > greatest ? std::fabs(from[i]) : greatest;
    const float scale = greatest / steps, inverse = detail::inverse_of_scale(scale);
    detail::write_half(scale, to);
    for (index i = 0; i < values; ++i) {
      to[2 + i] = static_cast<std::uint8_t>(static_cast<int>(std::round(detail::rounded_product(from[i], inverse))));
    }
  }
};

/// 32 weights in 18 bytes: a scale of 16 bits, then 4 bits for each. Byte j holds weight j in its lower half and weight
/// j + 16 in its upper one, both 8 too great.
/// accuracy  a step at the end of the range that the greatest magnitude is not at, half a step elsewhere; 8 steps are
///           that magnitude
/// source    GGUF, type Q4_0
struct q4_0 {
  static constexpr const char* name = "q4_0";
  static constexpr index values = 32, bytes = 18;
  static constexpr int steps = 8;

  template <class Byte>
  TENON_HOST_DEVICE static constexpr int whole(index place, const Byte& byte) {
    const int both = byte(2 + place % 16);
    return (place < 16 ? both & 15 : both >> 4) - 8;
  }
  static void encode(const float* from, std::uint8_t* to) {
    float greatest = from[0];
    for (index i = 1; i < values; ++i) greatest = std::fabs(from[i]) > std::fabs(greatest) ? from[i] : greatest;
    const float scale = greatest / -steps, inverse = detail::inverse_of_scale(scale);
    detail::write_half(scale, to);
    const auto shifted = [&](index i) {
      const double step = detail::rounded_product(from[i], inverse);
      const int whole = static_cast<int>(static_cast<float>(step + 8.5));
      return whole > 15 ? 15 : whole;
    };
    for (index j = 0; j < 16; ++j) to[2 + j] = static_cast<std::uint8_t>(shifted(j) | shifted(j + 16) << 4);
  }
};

/// Formats of weights in blocks: `values` of them in `bytes`.
template <class Format>
concept block_format = requires(const float* from, std::uint8_t* to) {
  Format::encode(from, to);
  Format::values;
  Format::bytes;
};

/// Weight `place` of a block of which `byte(i)` is byte i.
template <block_format Format, class Byte>
TENON_HOST_DEVICE constexpr float block_value(index place, const Byte& byte) {
  const int scale = static_cast<int>(byte(0)) | static_cast<int>(byte(1)) << 8;
  return static_cast<float>(half::from_bits(static_cast<std::uint16_t>(scale))) *
         static_cast<float>(Format::whole(place, byte));
}

}  // namespace tenon
