// tenon/io/checksum.hpp: the checksums that files guard their bytes with.
// A cyclic redundancy check of 32 bits, a byte at a time by a table that the compiler makes of its polynomial.
// Floor 2: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <tenon/base/array.hpp>

namespace tenon::io {

namespace detail {

/// The remainder that each byte leaves. `Polynomial` has its highest power in the lowest bit, as bytes are taken.
template <std::uint32_t Polynomial>
constexpr array<std::uint32_t, 256> make_remainders() {
  array<std::uint32_t, 256> remainders{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ (remainder & 1 ? Polynomial : 0);
    remainders[static_cast<index>(byte)] = remainder;
  }
  return remainders;
}

template <std::uint32_t Polynomial>
std::uint32_t cyclic_checksum(std::span<const std::uint8_t> bytes) {
  static constexpr array<std::uint32_t, 256> remainders = make_remainders<Polynomial>();
  std::uint32_t remainder = ~0u;
  for (const std::uint8_t byte : bytes) {
    remainder = remainder >> 8 ^ remainders[static_cast<index>((remainder ^ byte) & 0xff)];
  }
  return ~remainder;
}

}  // namespace detail

/// The checksum of ZIP archives and PNG files.
/// source    ISO 3309
inline std::uint32_t crc32(std::span<const std::uint8_t> bytes) { return detail::cyclic_checksum<0xEDB88320u>(bytes); }

/// The checksum of zlib's streams: two sums, the second one of the first's values.
/// source    RFC 1950
inline std::uint32_t adler32(std::span<const std::uint8_t> bytes) {
  std::uint32_t first = 1, second = 0;
  for (const std::uint8_t byte : bytes) {
    first = (first + byte) % 65521;
    second = (second + first) % 65521;
  }
  return second << 16 | first;
}

/// The checksum of event logs, by Castagnoli's polynomial.
/// source    RFC 3720, appendix B.4; Castagnoli and others 1993
inline std::uint32_t crc32c(std::span<const std::uint8_t> bytes) { return detail::cyclic_checksum<0x82F63B78u>(bytes); }

/// The same, masked so that a checksum may be part of what another one guards.
/// source    the record format of TensorFlow: rotated by 15 bits, and a constant added
inline std::uint32_t masked_crc32c(std::span<const std::uint8_t> bytes) {
  const std::uint32_t plain = crc32c(bytes);
  return (plain >> 15 | plain << 17) + 0xA282EAD8u;
}

}  // namespace tenon::io
