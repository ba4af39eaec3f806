// tests/device/simd_dot.cpp: sums of a few products of short numbers.
// Where the machine has them, lanes must be the sums that plain arithmetic gives.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_dot.hpp>

#include "support/catch.hpp"

namespace simd = tenon::simd;

namespace {

template <class From>
std::uint32_t unit_of(const From& elements) {
  return __builtin_bit_cast(std::uint32_t, elements);
}

}  // namespace

TEST_CASE("two bfloat16 a lane", "[simd]") {
  if constexpr (simd::has_bfloat16_dot) {
    using units = simd::pack<std::uint32_t, 16>;
    tenon::bfloat16 x[2] = {-3.5f, 7.0f}, y[32];
    for (int i = 0; i < 32; ++i) y[i] = static_cast<float>(3 * i + 1) / 4;
    simd::pack<float, 16> sums{};
    sums += 0.5f;
    const auto found = simd::add_bfloat16_dot(sums, unit_of(x), __builtin_bit_cast(units, y));
    for (int lane = 0; lane < 16; ++lane) {
      CHECK(found[lane] == 0.5f - 3.5f * static_cast<float>(y[2 * lane]) + 7.0f * static_cast<float>(y[2 * lane + 1]));
    }
  }
}

TEST_CASE("four bytes a lane, at their extremes too", "[simd]") {
  if constexpr (simd::has_byte_dot) {
    using units = simd::pack<std::uint32_t, 16>;
    const std::uint8_t x[4] = {255, 255, 3, 128};
    std::int8_t y[64];
    for (int i = 0; i < 64; ++i) y[i] = static_cast<std::int8_t>(i < 4 ? -128 : i < 8 ? 127 : 40 - i);
    const auto found = simd::add_byte_dot(units{} + 1000u, unit_of(x), __builtin_bit_cast(units, y));
    for (int lane = 0; lane < 16; ++lane) {
      int expected = 1000;
      for (int i = 0; i < 4; ++i) expected += x[i] * y[4 * lane + i];
      CHECK(static_cast<int>(found[lane]) == expected);
    }
  }
}

TEST_CASE("four unsigned bytes a lane by four signed ones", "[simd]") {
  if constexpr (simd::has_byte_dot) {
    using units = simd::pack<std::uint32_t, 16>;
    const std::int8_t y[4] = {-128, 127, 3, -1};
    std::uint8_t x[64];
    for (int i = 0; i < 64; ++i) x[i] = static_cast<std::uint8_t>(i < 4 ? 255 : 3 * i);
    const auto found = simd::add_byte_dot(units{} + 1000u, __builtin_bit_cast(units, x), unit_of(y));
    for (int lane = 0; lane < 16; ++lane) {
      int expected = 1000;
      for (int i = 0; i < 4; ++i) expected += x[4 * lane + i] * y[i];
      CHECK(static_cast<int>(found[lane]) == expected);
    }
  }
}
