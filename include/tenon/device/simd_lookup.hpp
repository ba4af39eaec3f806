// tenon/device/simd_lookup.hpp: tables of numbers in registers, which lanes choose from, and bytes as such lanes.
// One instruction, where as many lanes fit a register as there are numbers.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd.hpp>

namespace tenon::simd {

/// Whether a table of 16 floats is looked up in one instruction.
inline constexpr bool has_lookup =
#if defined(__AVX512F__) && !defined(__CUDACC__)
    true;
#else
    false;
#endif

/// table[place % 16] for the place in each lane, where the machine has that.
template <class Table, class Places>
TENON_INLINE Table look_up([[maybe_unused]] const Table& table, [[maybe_unused]] const Places& places) {
  static_assert(width_of<Table> == 16 && width_of<Places> == 16);
  Table result{};
#if defined(__AVX512F__) && !defined(__CUDACC__)
  asm("vpermps %2, %1, %0" : "=v"(result) : "v"(places), "v"(table));
#endif
  return result;
}

/// Sixteen bytes as whole numbers, where the machine has tables: g++ 12 converts lane by lane.
template <class Bytes>
TENON_INLINE auto widened([[maybe_unused]] const Bytes& bytes) {
  static_assert(width_of<Bytes> == 16 && sizeof(Bytes) == 16);
  pack<std::int32_t, 16> result{};
#if defined(__AVX512F__) && !defined(__CUDACC__)
  if constexpr (std::is_signed_v<lane_of<Bytes>>) {
    asm("vpmovsxbd %1, %0" : "=v"(result) : "v"(bytes));
  } else {
    asm("vpmovzxbd %1, %0" : "=v"(result) : "v"(bytes));
  }
#endif
  return result;
}

}  // namespace tenon::simd
