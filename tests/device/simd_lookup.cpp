// tests/device/simd_lookup.cpp: tables in registers against arrays.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_lookup.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

/// How many lanes of some rounds have another number than an array; 0 where the machine has no such instruction.
template <bool Exists>
int wrong_lookups([[maybe_unused]] std::uint64_t seed) {
  int wrong = 0;
  if constexpr (Exists) {
    tenon_test::random_source source(seed);
    for (int round = 0; round < 50; ++round) {
      tenon::simd::pack<float, 16> table{};
      tenon::simd::pack<std::int32_t, 16> places{};
      for (int lane = 0; lane < 16; ++lane) {
        table[lane] = static_cast<float>(source.uniform(-1, 1));
        places[lane] = static_cast<std::int32_t>(source.below(256));
      }
      const auto found = tenon::simd::look_up(table, places);
      for (int lane = 0; lane < 16; ++lane) wrong += found[lane] == table[places[lane] % 16] ? 0 : 1;
    }
  }
  return wrong;
}

/// How many of all bytes of a type become another number.
template <bool Exists, class Byte>
int wrong_numbers() {
  int wrong = 0;
  if constexpr (Exists) {
    for (int first = 0; first < 256; first += 16) {
      tenon::simd::pack<Byte, 16> bytes{};
      for (int lane = 0; lane < 16; ++lane) bytes[lane] = static_cast<Byte>(first + lane);
      const auto numbers = tenon::simd::widened(bytes);
      for (int lane = 0; lane < 16; ++lane) wrong += numbers[lane] == static_cast<int>(bytes[lane]) ? 0 : 1;
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("bytes become whole numbers", "[simd]") {
  CHECK(wrong_numbers<tenon::simd::has_lookup, std::int8_t>() == 0);
  CHECK(wrong_numbers<tenon::simd::has_lookup, std::uint8_t>() == 0);
}

TEST_CASE("lanes choose from a table of sixteen", "[simd]") { CHECK(wrong_lookups<tenon::simd::has_lookup>(3) == 0); }
