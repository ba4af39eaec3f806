// tenon/device/simd_short.hpp: lanes of float as the bits of half and bfloat16, and back.
// What base/dtype.hpp does to one number, for all lanes at once.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <tenon/base/dtype.hpp>

namespace tenon::simd {

/// Whether `Width` lanes of float are converted at once to and from elements of type U.
template <class U, int Width>
inline constexpr bool converts_short_floats =
#if defined(__CUDACC__)
    false;
#elif defined(__F16C__) && defined(__AVX512F__)
    is_short_float<U> && sizeof(U) == 2 && (Width == 8 || Width == 16);
#elif defined(__F16C__)
    is_short_float<U> && sizeof(U) == 2 && Width == 8;
#else
    std::is_same_v<U, bfloat16> && (Width == 4 || Width == 8 || Width == 16);
#endif

namespace detail {

/// Vectors of `Width` numbers of 16 and of 32 bits.
template <int Width>
struct short_vectors {
  typedef std::uint16_t words __attribute__((vector_size(2 * Width)));
  typedef std::uint32_t bits __attribute__((vector_size(4 * Width)));
  typedef float floats __attribute__((vector_size(4 * Width)));
};

}  // namespace detail

/// `Width` elements side by side as float.
template <int Width, class U>
TENON_INLINE auto load_short_floats(const U* from) {
  using vectors = detail::short_vectors<Width>;
  typename vectors::words words;
  std::memcpy(&words, from, sizeof(words));
  if constexpr (std::is_same_v<U, bfloat16>) {
    return __builtin_bit_cast(typename vectors::floats, __builtin_convertvector(words, typename vectors::bits) << 16);
  } else {
    typename vectors::floats floats{};
#if defined(__F16C__) && !defined(__CUDACC__)
    asm("vcvtph2ps %1, %0" : "=v"(floats) : "v"(words));
#endif
    return floats;
  }
}

/// Lanes of float as elements side by side, rounded to nearest even.
template <int Width, class U, class Floats>
TENON_INLINE void store_short_floats(U* to, const Floats& floats) {
  using vectors = detail::short_vectors<Width>;
  typename vectors::words words{};
  if constexpr (std::is_same_v<U, bfloat16>) {
    const auto bits = __builtin_bit_cast(typename vectors::bits, floats);
    const auto rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const auto quiet = (bits >> 16) | 0x40u;
    words = __builtin_convertvector(floats == floats ? rounded : quiet, typename vectors::words);
  } else {
#if defined(__F16C__) && !defined(__CUDACC__)
    asm("vcvtps2ph $0, %1, %0" : "=v"(words) : "v"(floats));
#endif
  }
  std::memcpy(static_cast<void*>(to), &words, sizeof(words));
}

}  // namespace tenon::simd
