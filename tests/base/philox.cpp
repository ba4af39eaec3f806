// tests/base/philox.cpp: random bits against the published vectors.
// The three known answers are those of Random123's kat_vectors for philox4x32 with ten rounds.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/philox.hpp>

#include "support/catch.hpp"

namespace {

using block = tenon::array<std::uint32_t, 4>;

constexpr std::uint32_t full = 0xffffffffu;

}  // namespace

TEST_CASE("philox gives the published answers", "[philox]") {
  STATIC_REQUIRE(tenon::philox4x32({0, 0, 0, 0}, {0, 0}) == block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  STATIC_REQUIRE(tenon::philox4x32({full, full, full, full}, {full, full}) ==
                 block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  STATIC_REQUIRE(tenon::philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
                 block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("position and seed reach all their bits", "[philox]") {
  const std::uint64_t high = std::uint64_t{1} << 40;
  CHECK(tenon::philox_bits(0, 0) == tenon::philox4x32({0, 0, 0, 0}, {0, 0}));
  CHECK(tenon::philox_bits(0, high) == tenon::philox4x32({0, 256, 0, 0}, {0, 0}));
  CHECK(tenon::philox_bits(high + 5, 7) == tenon::philox4x32({7, 0, 0, 0}, {5, 256}));
  CHECK(tenon::philox_bits(5, 7, 3) == tenon::philox4x32({7, 0, 0, 3}, {5, 0}));
}

TEST_CASE("uniform floats lie in [0, 1), both ends of the bits included", "[philox]") {
  CHECK(tenon::uniform_from_bits(0) == 0.0f);
  CHECK(tenon::uniform_from_bits(0xff) == 0.0f);
  CHECK(tenon::uniform_from_bits(0x100) == 0x1p-24f);
  CHECK(tenon::uniform_from_bits(0x80000000u) == 0.5f);
  CHECK(tenon::uniform_from_bits(full) == 1.0f - 0x1p-24f);
}

TEST_CASE("uniform doubles have 53 bits of their 64", "[philox]") {
  CHECK(tenon::uniform_from_bits(0, 0x7ff) == 0.0);
  CHECK(tenon::uniform_from_bits(0, 0x800) == 0x1p-53);
  CHECK(tenon::uniform_from_bits(0x80000000u, 0) == 0.5);
  CHECK(tenon::uniform_from_bits(full, full) == 1.0 - 0x1p-53);
}
