// tenon/base/philox.hpp: counter-based random bits.
// A pure function of counter and key, so every executor and every number of threads draws the same numbers.
// Floor 0: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tenon/base/array.hpp>

namespace tenon {

/// Philox 4x32 with ten rounds: 128 random bits from a 128-bit counter and a 64-bit key. `Word` holds 32 bits; packs of
/// words hold each in a lane of 64 bits.
/// source    Salmon, Moraes, Dror, Shaw 2011: Parallel random numbers: as easy as 1, 2, 3
template <class Word = std::uint32_t>
TENON_HOST_DEVICE TENON_INLINE constexpr array<Word, 4> philox4x32(array<Word, 4> counter,
                                                                   array<std::uint32_t, 2> key) {
  for (int pass = 0; pass < 10; ++pass) {
    const auto even = 0xD2511F53ull * counter[0], odd = 0xCD9E8D57ull * counter[2];
    counter = {static_cast<Word>(odd >> 32) ^ counter[1] ^ key[0], static_cast<Word>(odd & 0xffffffffu),
               static_cast<Word>(even >> 32) ^ counter[3] ^ key[1], static_cast<Word>(even & 0xffffffffu)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

/// The 128 bits numbered `position` of the sequence `seed`. A seed has 2^32 streams that share no bits.
TENON_HOST_DEVICE constexpr array<std::uint32_t, 4> philox_bits(std::uint64_t seed, std::uint64_t position,
                                                                std::uint32_t stream = 0) {
  return philox4x32({static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32), 0u, stream},
                    {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

/// A float uniform in [0, 1) from 32 random bits: the upper 24, so that every value is exact.
TENON_HOST_DEVICE constexpr float uniform_from_bits(std::uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1p-24f;
}

/// A double uniform in [0, 1) from 64 random bits: the upper 53, so that every value is exact.
TENON_HOST_DEVICE constexpr double uniform_from_bits(std::uint32_t high, std::uint32_t low) {
  return static_cast<double>(high) * 0x1p-32 + static_cast<double>(low >> 11) * 0x1p-53;
}

}  // namespace tenon
