// tenon/io/crc32c.hpp: the checksum that event logs guard their records with.
// Castagnoli's polynomial, a byte at a time by a table that the compiler makes.
// Floor 2: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <tenon/base/array.hpp>

namespace tenon::io {

namespace detail {

inline constexpr std::uint32_t castagnoli_reflected = 0x82F63B78u;

/// The remainder that each byte leaves.
constexpr array<std::uint32_t, 256> make_crc32c_table() {
  array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ (remainder & 1 ? castagnoli_reflected : 0);
    table[static_cast<index>(byte)] = remainder;
  }
  return table;
}
inline constexpr array<std::uint32_t, 256> crc32c_table = make_crc32c_table();

}  // namespace detail

/// CRC-32C of some bytes.
/// source    RFC 3720, appendix B.4; Castagnoli and others 1993
inline std::uint32_t crc32c(std::span<const std::uint8_t> bytes) {
  std::uint32_t remainder = ~0u;
  for (const std::uint8_t byte : bytes) {
    remainder = remainder >> 8 ^ detail::crc32c_table[static_cast<index>((remainder ^ byte) & 0xff)];
  }
  return ~remainder;
}

/// The same, masked so that a checksum may be part of what another one guards.
/// source    the record format of TensorFlow: rotated by 15 bits, and a constant added
inline std::uint32_t masked_crc32c(std::span<const std::uint8_t> bytes) {
  const std::uint32_t plain = crc32c(bytes);
  return (plain >> 15 | plain << 17) + 0xA282EAD8u;
}

}  // namespace tenon::io
