// tenon/base/unwritten.hpp: what new storage holds before anyone writes it; for builds with TENON_FILL.
// A program that prints the same with two fills has read nothing that nobody wrote.
// Floor 0: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <tenon/base/dtype.hpp>

namespace tenon {

namespace detail {

/// A signalling NaN of floating types, the bytes 0xA5 of any other.
template <class T>
constexpr std::array<unsigned char, sizeof(T)> unwritten_element() {
  std::array<unsigned char, sizeof(T)> bytes{};
  bytes.fill(0xA5);
  if constexpr (std::is_same_v<T, float8_e4m3>) {
    bytes = {0x7F};  // its only NaN
  } else if constexpr (is_floating<T>) {
    bytes.back() = sizeof(T) == 1 || std::is_same_v<T, half> ? 0x7D : 0x7F;
    if constexpr (sizeof(T) == 8) bytes[6] = 0xF5;
  }
  return bytes;
}

/// The byte that the environment variable TENON_FILL asks for, as `0xff`; -1 without it.
inline int fill_byte() {
  static const int byte = [] {
    const char* const text = std::getenv("TENON_FILL");
    return text == nullptr || *text == '\0' ? -1 : static_cast<int>(std::strtoul(text, nullptr, 0) & 0xFFU);
  }();
  return byte;
}

}  // namespace detail

/// Fills new storage for elements of `T`: by the type, or with the byte that the environment variable TENON_FILL names.
template <class T>
void fill_unwritten(void* memory, std::size_t bytes) {
  if (bytes == 0) return;
  if (const int byte = detail::fill_byte(); byte >= 0) {
    std::memset(memory, byte, bytes);
    return;
  }
  constexpr auto element = detail::unwritten_element<real_type<T>>();
  auto* const begin = static_cast<unsigned char*>(memory);
  std::size_t filled = bytes < element.size() ? bytes : element.size();
  std::memcpy(begin, element.data(), filled);
  while (filled < bytes) {  // what is filled already doubles
    const std::size_t more = filled < bytes - filled ? filled : bytes - filled;
    std::memcpy(begin + filled, begin, more);
    filled += more;
  }
}

}  // namespace tenon
