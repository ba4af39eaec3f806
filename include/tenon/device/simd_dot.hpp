// tenon/device/simd_dot.hpp: sums of a few products of short numbers, in one instruction.
// A lane of 32 bits holds two bfloat16 or four bytes; what they are multiplied with lies in another lane like it.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd.hpp>

namespace tenon::simd {

/// Whether the machine multiplies pairs of bfloat16, or unsigned with signed bytes, and adds the products to a lane.
inline constexpr bool has_bfloat16_dot =
#if defined(__AVX512BF16__) && !defined(__CUDACC__)
    true;
#else
    false;
#endif
inline constexpr bool has_byte_dot =
#if defined(__AVX512VNNI__) && !defined(__CUDACC__)
    true;
#else
    false;
#endif

/// sums + x0 y0 + x1 y1 in each lane, where x and each lane of y hold two bfloat16. Products are exact; numbers below
/// the normal range count as 0.
template <class Sums, class Pairs>
TENON_INLINE Sums add_bfloat16_dot(Sums sums, [[maybe_unused]] std::uint32_t x, [[maybe_unused]] Pairs y) {
#if defined(__AVX512BF16__) && !defined(__CUDACC__)
  asm("vdpbf16ps %2, %1, %0" : "+v"(sums) : "v"(x - Pairs{}), "v"(y));
#endif
  return sums;
}

/// sums + x0 y0 + x1 y1 + x2 y2 + x3 y3 in each lane, where each lane of x holds four unsigned and each lane of y four
/// signed bytes; wraps.
template <class Sums>
TENON_INLINE Sums add_byte_dot(Sums sums, [[maybe_unused]] Sums x, [[maybe_unused]] Sums y) {
#if defined(__AVX512VNNI__) && !defined(__CUDACC__)
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(x), "v"(y));
#endif
  return sums;
}
/// The same where all lanes of x, or of y, are one.
template <class Sums>
TENON_INLINE Sums add_byte_dot(Sums sums, std::uint32_t x, Sums y) {
  return add_byte_dot(sums, x - Sums{}, y);
}
template <class Sums>
TENON_INLINE Sums add_byte_dot(Sums sums, Sums x, std::uint32_t y) {
  return add_byte_dot(sums, x, y - Sums{});
}

}  // namespace tenon::simd
